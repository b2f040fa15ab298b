import { counted } from "../format";
import { orphansShown, showOrphans } from "../router";

/** What the overview is asked for: orphaned objects only if they are shown. */
export function orphansAsked(): { orphans?: string } {
  return orphansShown.value ? { orphans: "shown" } : {};
}

/** Marks something that a replacement or a deletion left behind. */
export function OrphanTag({ of }: { of: { readonly isOrphaned: boolean } }) {
  return of.isOrphaned ? <span class="tag">orphaned</span> : null;
}

/** The switch that shows orphaned objects; nothing if there are none. */
export function OrphanSwitch({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <p class="muted">
      <label>
        <input
          type="checkbox"
          checked={orphansShown.value}
          onChange={(event) => showOrphans(event.currentTarget.checked)}
        />{" "}
        Show {counted(count, "orphaned object")}
      </label>
      {orphansShown.value && (
        <>
          {" "}
          · <code>recommender orphans delete --all</code> deletes them
        </>
      )}
    </p>
  );
}
