import { type Interactions, InteractionsBuilder, trainG1 } from "../../../service/algorithms";
import { createRandom } from "../../../service/algorithms/random";
import { Fold } from "../../../service/algorithms/training/fold";
import { reportUsersOf } from "../../../service/algorithms/training/report-users";
import { searchParameters } from "../../../service/algorithms/training/search";

const [users, items, perUser] = [30, 25, 10];

/** Each user chooses random items one after another. `lastOf` can set one of the last items. */
function choices(lastOf: (user: number) => number | undefined = () => undefined): Interactions {
  const random = createRandom(5);
  const builder = new InteractionsBuilder();
  for (let user = 0; user < users; user++) {
    const own = new Set<number>();
    while (own.size < perUser) own.add(random.below(items - 2));
    const row = [...own];
    // The last two of ten items are held out.
    row.splice(8, 1, lastOf(user) ?? row[8]);
    row.forEach((item, step) => {
      builder.add(user, item, 1, user * 100 + step);
    });
  }
  return builder.build(users, items);
}

const given = { dimensions: 4, weighting: "log", damping: 0, neighbours: 0, epochs: 3 } as const;
const pairsOf = ({ start, index, time }: Interactions, user: number) =>
  Array.from({ length: start[user + 1] - start[user] }, (_, at) => ({
    item: index[start[user] + at],
    time: time?.[start[user] + at],
  }));

test("the pairs of the report change no trial, and are in no fold", () => {
  const { isReporting } = reportUsersOf(choices());
  const measured = jest.spyOn(Fold.prototype, "measure");
  const tried = (of: Interactions) => {
    let trials: readonly number[] = [];
    const { report } = searchParameters(of, given, (_fraction, _quality, all) => {
      trials = [...all];
    });
    return { trials, report };
  };
  const before = tried(choices());
  const folds = new Set(measured.mock.contexts);
  measured.mockRestore();
  // Only users of the report chose the last item, in held-out pairs.
  const after = tried(choices((user) => (isReporting[user] ? items - 1 : undefined)));
  expect(before.trials.length).toBeGreaterThan(3);
  expect(after.trials).toEqual(before.trials);
  expect(after.report.quality).not.toEqual(before.report.quality);

  expect(folds.size).toBeGreaterThan(1);
  const all = choices();
  for (const fold of folds) {
    for (let user = 0; user < users; user++) {
      if (!isReporting[user]) continue;
      const held = pairsOf(all, user)
        .sort((a, b) => Number(b.time) - Number(a.time))
        .slice(0, 2);
      const known = new Set(pairsOf(fold.train, user).map(({ item }) => item));
      const asked = pairsOf(fold.choosing.test, user).map(({ item }) => item);
      for (const { item } of held) {
        expect(known).not.toContain(item);
        expect(asked).not.toContain(item);
      }
    }
  }
});

test("reports the number of users and pairs that it was measured on", () => {
  const { report } = trainG1({ interactions: choices() }, given);
  expect(report.heldOut).toEqual({ users: users / 2, pairs: users, kind: "latest" });
});

test("measures the defaults if only one user has pairs to hold out", () => {
  const builder = new InteractionsBuilder();
  for (const [user, item] of [
    [0, 0],
    [0, 1],
    [1, 0],
    [2, 1],
  ] as const)
    builder.add(user, item, 1);
  const { report, parameters } = trainG1({ interactions: builder.build() });
  expect(report).toMatchObject({ trials: 0, heldOut: { users: 1, pairs: 1, kind: "random" } });
  expect(report.quality?.ndcg20).toBeGreaterThan(0);
  expect(parameters).toMatchObject({ dimensions: 32, epochs: 8 });
});
