import type { TriedItem } from "../../../service/console/answers";
import { measure, shown } from "../../format";
import { Meter } from "../../parts/basics";

/** Items in order, each with its score and the user's own items that led there. */
export function Ranked({
  items,
  before,
  labelledBy,
}: {
  items: readonly TriedItem[];
  /** What was recommended without the changes. */
  before: readonly TriedItem[] | undefined;
  labelledBy: string | null;
}) {
  const best = Math.max(...items.map(({ score }) => score), 0.000_001);
  return (
    <ol class="ranked">
      {items.map((item, at) => {
        const others = Object.entries(item.attributes).filter(([key]) => key !== labelledBy);
        const title = labelledBy === null ? item.itemId : shown(item.attributes[labelledBy] ?? item.itemId);
        return (
          <li key={item.itemId}>
            <span class="rank">{at + 1}</span>
            <div>
              <bdi class="name">{title}</bdi>{" "}
              {before && <Moved from={before.findIndex(({ itemId }) => itemId === item.itemId)} to={at} />}
              <p class="attributes">
                <bdi class="id">{shown(item.itemId)}</bdi>
                {others.slice(0, 5).map(([key, value]) => (
                  <span key={key} title={key}>
                    {" · "}
                    <bdi>{shown(value)}</bdi>
                  </span>
                ))}
              </p>
              <Why item={item} />
            </div>
            <div class="num" title={`Score ${item.score}`}>
              {measure(item.score)}
              <Meter value={Math.max(0, item.score)} of={best} label={`Score ${measure(item.score)}`} />
            </div>
          </li>
        );
      })}
    </ol>
  );
}

const shownReasons = 3;

/** What the user's own items add to the score; shown parts and the rest sum to it. */
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
          title={`${itemId} adds ${measure(adds, 4)} to the score${neighbours > 0 ? `, ${measure(neighbours, 4)} of it by users who chose the same` : ""}`}
        >
          <bdi>{shown(label ?? itemId).slice(0, 40)}</bdi>
          <span class="num">
            {adds < 0 ? "" : "+"}
            {measure(adds)}
          </span>
        </li>
      ))}
      {Math.abs(rest) >= least && (
        <li class="rest" title="What other items of the user add, and what the training holds beyond them">
          other
          <span class="num">
            {rest < 0 ? "" : "+"}
            {measure(rest)}
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
