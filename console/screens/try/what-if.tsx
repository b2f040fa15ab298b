import { useRef } from "preact/hooks";
import type { TryResponse } from "../../../service/console/responses";
import { displayValue, toFourDigits } from "../../format";
import { Card } from "../../parts/basics";
import { Combo } from "../../parts/combo";

/** Events that are added or removed only on this page, not in the service. */
export interface Changes {
  readonly add: readonly { readonly itemId: string; readonly weight: number }[];
  readonly remove: readonly string[];
}

export const noChanges: Changes = { add: [], remove: [] };

/** The user's items, with buttons to add and remove items on this page only. */
export function WhatIf({
  answer,
  projectId,
  changes,
  onChange,
}: {
  answer: TryResponse;
  projectId: string;
  changes: Changes;
  onChange: (next: Changes) => void;
}) {
  const isChanged = changes.add.length > 0 || changes.remove.length > 0;
  const name = (id: string, record: Readonly<Record<string, unknown>>) =>
    displayValue(answer.labelledBy === null ? id : (record[answer.labelledBy] ?? id));
  // Removed items are missing from later responses, so their names are stored here.
  const names = useRef(new Map<string, string>()).current;
  for (const { itemId, attributes } of answer.own) names.set(itemId, name(itemId, attributes));
  return (
    <Card
      title="What if"
      aside={
        isChanged ? (
          <button type="button" class="quiet" onClick={() => onChange(noChanges)}>
            Undo all
          </button>
        ) : (
          "changes are not stored"
        )
      }
    >
      <div class="stack">
        {answer.attributes && Object.keys(answer.attributes).length > 0 && (
          <p class="attributes">
            {Object.entries(answer.attributes)
              .map(([key, value]) => `${key} ${displayValue(value)}`)
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
          addMode="stored"
          onPick={(itemId) =>
            onChange({
              add: [...changes.add.filter((one) => one.itemId !== itemId), { itemId, weight: 1 }],
              remove: changes.remove.filter((id) => id !== itemId),
            })
          }
        />
        {answer.own.length + changes.remove.length === 0 ? (
          <p class="muted">
            {answer.isKnown ? "This user has no events." : "The service has no data about this user."}
          </p>
        ) : (
          <ul class="own">
            {answer.own.map(({ itemId, attributes, isAdded, weight }) => (
              <li key={itemId}>
                <span>
                  <bdi title={itemId}>{name(itemId, attributes)}</bdi>{" "}
                  {isAdded && <span class="tag accent">added</span>}{" "}
                  {weight !== 1 && <span class="muted">× {toFourDigits(weight)}</span>}
                </span>
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Remove ${name(itemId, attributes)}`}
                  onClick={() =>
                    onChange(
                      isAdded
                        ? { ...changes, add: changes.add.filter((one) => one.itemId !== itemId) }
                        : { ...changes, remove: [...changes.remove, itemId] },
                    )
                  }
                >
                  Remove
                </button>
              </li>
            ))}
            {changes.remove.map((itemId) => (
              <li key={itemId} class="removed">
                <bdi title={itemId}>{names.get(itemId) ?? displayValue(itemId)}</bdi>
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Restore ${names.get(itemId) ?? displayValue(itemId)}`}
                  onClick={() =>
                    onChange({ ...changes, remove: changes.remove.filter((id) => id !== itemId) })
                  }
                >
                  Restore
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Card>
  );
}
