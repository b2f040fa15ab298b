import { InteractionsBuilder } from "../../../service/algorithms";
import { createRandom } from "../../../service/algorithms/random";
import { History } from "../../../service/serving/history";

const [users, items] = [40, 30];

/** Creates an empty history that merges after few changed pairs, and one that never merges. */
function histories(most: number) {
  const none = new InteractionsBuilder().build(0, 0);
  const rows = { ...none, count: new Uint32Array(0), sum: new Float64Array(0) };
  return { bounded: new History(rows, most), whole: new History(rows, Number.POSITIVE_INFINITY) };
}

const sorted = (history: History, user: number) => history.weights(user).sort((a, b) => a.item - b.item);

test("events of changed users use little memory, and stay the same after a merge", async () => {
  const most = 50;
  const { bounded, whole } = histories(most);
  const random = createRandom(7);
  const written: [user: number, item: number][] = [];
  for (let step = 0; step < 4000; step++) {
    const isGone = written.length > 0 && random.next() < 0.3;
    const [user, item] = isGone
      ? (written.splice(random.below(written.length), 1)[0] as [number, number])
      : [random.below(users), random.below(items)];
    if (!isGone) written.push([user, item]);
    for (const history of [bounded, whole]) history.change(user, item, 2, isGone ? -1 : 1);
    // Some changes arrive during a merge, others after it.
    if (step % 7 === 0) await bounded.merged;
    if (step % 97 !== 0) continue;
    for (let one = 0; one < users + 1; one++) {
      expect(sorted(bounded, one)).toEqual(sorted(whole, one));
      expect([...bounded.items(one)].sort()).toEqual([...whole.items(one)].sort());
    }
  }
  await bounded.merged;
  // The first change loads all events of a user, so the limit can be exceeded a little.
  expect(bounded.apart).toBeLessThanOrEqual(most + items);
  expect(whole.apart).toBeGreaterThan(10 * most);
});
