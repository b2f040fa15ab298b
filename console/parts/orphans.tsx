import { plural } from "../format";
import { orphansShown, showOrphans } from "../router";

/** Returns query parameters that request orphaned objects only if the screen shows them. */
export function orphanQuery(): { orphans?: string } {
  return orphansShown.value ? { orphans: "shown" } : {};
}

/** Marks an orphaned object: one that a replacement or a deletion left behind. */
export function OrphanTag({ of }: { of: { readonly isOrphaned: boolean } }) {
  return of.isOrphaned ? <span class="tag">orphaned</span> : null;
}

/** A switch that shows orphaned objects. It is hidden if there are none. */
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
        Show {plural(count, "orphaned object")}
      </label>
      {orphansShown.value && (
        <>
          {" "}
          · To delete them, run <code>recommender orphans delete --all</code>
        </>
      )}
    </p>
  );
}
