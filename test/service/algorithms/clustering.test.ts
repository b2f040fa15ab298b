import { attributeValues, clusterUsers, InteractionsBuilder, trainG1 } from "../../../service/algorithms";
import { createRandom } from "../../../service/algorithms/random";

const SIZES = [90, 60, 30, 4];
const random = createRandom(8);
const builder = new InteractionsBuilder();
const blockOf: number[] = [];
SIZES.forEach((size, block) => {
  for (let member = 0; member < size; member++) {
    const user = blockOf.push(block) - 1;
    for (let event = 0; event < 12; event++) {
      const own = random.next() < 0.9 ? block : random.below(SIZES.length);
      builder.add(user, own * 25 + random.below(25), 1);
    }
  }
});
const users = blockOf.length;
const model = trainG1({ interactions: builder.build(users + 2, 100) }, { dimensions: 16 });
const values = attributeValues(
  Array.from({ length: 100 }, (_, item) => ({ shelf: `s${Math.floor(item / 25)}` })),
);

test("finds blocks of users, largest first, and drops small groups", () => {
  const groups = clusterUsers(model, values, 20);
  expect(groups).toHaveLength(3);
  groups.forEach((group, block) => {
    expect(group.size).toBe(group.members.length);
    expect(group.size).toBeGreaterThanOrEqual(20);
    const own = group.members.filter((user) => blockOf[user] === block).length;
    expect(own / group.size).toBeGreaterThan(0.85);
  });
});

test("marks each group by the attribute value that it uses more than other groups", () => {
  clusterUsers(model, values, 20).forEach(({ markers }, block) => {
    expect(markers[0]?.value).toBe(`s${block}`);
    expect(markers[0]?.lift).toBeGreaterThan(1.5);
    expect(markers[0]?.share).toBeGreaterThan(markers[0]?.overallShare ?? 1);
  });
});

test("gives the same groups each time, with each user in at most one group", () => {
  const groups = clusterUsers(model, values, 5);
  expect(clusterUsers(model, values, 5)).toEqual(groups);
  const members = groups.flatMap((group) => group.members);
  expect(new Set(members).size).toBe(members.length);
});

test("puts users without a vector in no group, and returns no groups if the minimum is too high", () => {
  expect(clusterUsers(model, values, 1).flatMap(({ members }) => members)).not.toContain(users);
  expect(clusterUsers(model, values, 10_000)).toEqual([]);
});
