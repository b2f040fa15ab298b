import { useRef } from "preact/hooks";
import type { TryAnswer } from "../../../service/console/answers";
import { rounded, shown } from "../../format";
import { Card } from "../../parts/basics";
import { Combo } from "../../parts/combo";

/** Events that are added and taken out in the page only. */
export interface Changes {
  readonly add: readonly { readonly itemId: string; readonly weight: number }[];
  readonly remove: readonly string[];
}

export const none: Changes = { add: [], remove: [] };

/** The user's own items, to be added to and taken out in the page only. */
export function Own({
  answer,
  projectId,
  changes,
  onChange,
}: {
  answer: TryAnswer;
  projectId: string;
  changes: Changes;
  onChange: (next: Changes) => void;
}) {
  const isChanged = changes.add.length > 0 || changes.remove.length > 0;
  const name = (id: string, record: Readonly<Record<string, unknown>>) =>
    shown(answer.labelledBy === null ? id : (record[answer.labelledBy] ?? id));
  // An answer without an item does not name it.
  const names = useRef(new Map<string, string>()).current;
  for (const { itemId, attributes } of answer.own) names.set(itemId, name(itemId, attributes));
  return (
    <Card
      title="What if"
      aside={
        isChanged ? (
          <button type="button" class="quiet" onClick={() => onChange(none)}>
            Undo all
          </button>
        ) : (
          "stored nowhere"
        )
      }
    >
      <div class="stack">
        {answer.attributes && Object.keys(answer.attributes).length > 0 && (
          <p class="attributes">
            {Object.entries(answer.attributes)
              .map(([key, value]) => `${key} ${shown(value)}`)
              .join(" · ")
              .slice(0, 300)}
          </p>
        )}
        <Combo
          kind="item"
          projectId={projectId}
          label="Add an event on an item"
          placeholder="Item"
          value=""
          adds="stored"
          onPick={(itemId) =>
            onChange({
              add: [...changes.add.filter((one) => one.itemId !== itemId), { itemId, weight: 1 }],
              remove: changes.remove.filter((id) => id !== itemId),
            })
          }
        />
        {answer.own.length + changes.remove.length === 0 ? (
          <p class="muted">
            {answer.isKnown ? "This user has no events on items." : "Nothing is stored about this user."}
          </p>
        ) : (
          <ul class="own">
            {answer.own.map(({ itemId, attributes, isAdded, weight }) => (
              <li key={itemId}>
                <span>
                  <bdi title={itemId}>{name(itemId, attributes)}</bdi>{" "}
                  {isAdded && <span class="tag accent">added</span>}{" "}
                  {weight !== 1 && <span class="muted">× {rounded(weight)}</span>}
                </span>
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Take out ${name(itemId, attributes)}`}
                  onClick={() =>
                    onChange(
                      isAdded
                        ? { ...changes, add: changes.add.filter((one) => one.itemId !== itemId) }
                        : { ...changes, remove: [...changes.remove, itemId] },
                    )
                  }
                >
                  Take out
                </button>
              </li>
            ))}
            {changes.remove.map((itemId) => (
              <li key={itemId} class="removed">
                <bdi title={itemId}>{names.get(itemId) ?? shown(itemId)}</bdi>
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Put back ${names.get(itemId) ?? shown(itemId)}`}
                  onClick={() =>
                    onChange({ ...changes, remove: changes.remove.filter((id) => id !== itemId) })
                  }
                >
                  Put back
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Card>
  );
}
