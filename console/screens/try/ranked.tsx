import type { TriedItem } from "../../../service/console/responses";
import { displayValue, formatDecimal } from "../../format";
import { Meter } from "../../parts/basics";

/** Recommended items in order, each with its score and the user's items that contribute to it. */
export function Ranked({
  items,
  before,
  labelledBy,
}: {
  items: readonly TriedItem[];
  /** The recommendations without the what-if changes. */
  before: readonly TriedItem[] | undefined;
  labelledBy: string | null;
}) {
  const best = Math.max(...items.map(({ score }) => score), 0.000_001);
  return (
    <ol class="ranked">
      {items.map((item, at) => {
        const others = Object.entries(item.attributes).filter(([key]) => key !== labelledBy);
        const title =
          labelledBy === null ? item.itemId : displayValue(item.attributes[labelledBy] ?? item.itemId);
        return (
          <li key={item.itemId}>
            <span class="rank">{at + 1}</span>
            <div>
              <bdi class="name">{title}</bdi>{" "}
              {before && <Moved from={before.findIndex(({ itemId }) => itemId === item.itemId)} to={at} />}
              {item.rules.map(({ effect, factor }, place) => (
                <span
                  key={place}
                  class={`moved ${effect === "buried" ? "down" : "up"}`}
                  title="By a rule of the deployment"
                >
                  {factor == null ? effect : `${effect} × ${factor}`}{" "}
                </span>
              ))}
              <p class="attributes">
                <bdi class="id">{displayValue(item.itemId)}</bdi>
                {others.slice(0, 5).map(([key, value]) => (
                  <span key={key} title={key}>
                    {" · "}
                    <bdi>{displayValue(value)}</bdi>
                  </span>
                ))}
              </p>
              <Why item={item} />
            </div>
            <div class="num" title={`Score ${item.score}`}>
              {formatDecimal(item.score)}
              <Meter value={Math.max(0, item.score)} of={best} label={`Score ${formatDecimal(item.score)}`} />
            </div>
          </li>
        );
      })}
    </ol>
  );
}

const shownReasons = 3;

/** The contributions of the user's items to a score. Together with `other`, they add up to the score. */
function Why({ item }: { item: TriedItem }) {
  if (item.reasons.length === 0) return null;
  const least = Math.abs(item.score) * 0.02;
  const main = item.reasons.filter(({ adds }) => Math.abs(adds) >= least).slice(0, shownReasons);
  const rest = item.score - main.reduce((sum, { adds }) => sum + adds, 0);
  return (
    <ul class="why" aria-label="Because of">
      {main.map(({ itemId, label, adds, neighbours }) => (
        <li
          key={itemId}
          class={adds < 0 ? "less" : ""}
          title={`${itemId} adds ${formatDecimal(adds, 4)} to the score${neighbours > 0 ? `, of which ${formatDecimal(neighbours, 4)} through users with the same choices` : ""}`}
        >
          <bdi>{displayValue(label ?? itemId).slice(0, 40)}</bdi>
          <span class="num">
            {adds < 0 ? "" : "+"}
            {formatDecimal(adds)}
          </span>
        </li>
      ))}
      {Math.abs(rest) >= least && (
        <li class="rest" title="Contribution of the user's other items, and of the trained user vector">
          other
          <span class="num">
            {rest < 0 ? "" : "+"}
            {formatDecimal(rest)}
          </span>
        </li>
      )}
    </ul>
  );
}

function Moved({ from, to }: { from: number; to: number }) {
  if (from === to) return null;
  if (from === -1) return <span class="moved up">new</span>;
  return (
    <span class={`moved ${to < from ? "up" : "down"}`} title={`Was number ${from + 1}`}>
      {to < from ? "▲" : "▼"} {Math.abs(from - to)}
    </span>
  );
}
