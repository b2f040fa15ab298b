import { type Interactions, InteractionsBuilder, trainG1 } from "../../../service/algorithms";
import { createRandom } from "../../../service/algorithms/random";
import { Fold } from "../../../service/algorithms/training/fold";
import { reportUsersOf } from "../../../service/algorithms/training/report-users";
import { searchParameters } from "../../../service/algorithms/training/search";

const [users, items, perUser] = [30, 25, 10];

/** Each user chooses random items one after another; `lastOf` may say what a user chooses last. */
function choices(lastOf: (user: number) => number | undefined = () => undefined): Interactions {
  const random = createRandom(5);
  const builder = new InteractionsBuilder();
  for (let user = 0; user < users; user++) {
    const own = new Set<number>();
    while (own.size < perUser) own.add(random.below(items - 2));
    const row = [...own];
    // Of ten items the last two are held out.
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

test("the pairs that a report is measured on change no trial, and each is later than all that was learned from", () => {
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
  // Nobody chose the last item but the users of the report, in the pairs that are held out.
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

test("a report says how many users and pairs it was measured on: the latest pairs of half of the users", () => {
  const { report } = trainG1({ interactions: choices() }, given);
  expect(report.heldOut).toEqual({ users: users / 2, pairs: users, kind: "latest" });
});

test("a single user with pairs to hold out leaves none to choose by: the defaults are kept, and measured", () => {
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
