import { randomUUID } from "node:crypto";
import { digest } from "../../../client/state-directory";
import { routes } from "../../../contract";
import { write } from "../../../provider/recovery/journal";
import { keyOf } from "../../faults/rows";
import { KilledRuns, request, users } from "./killed-runs";

const runs = KilledRuns.use();

test("RECOMMENDER_ADOPT that is still set does not affect a forced replacement", async () => {
  runs.engine.programHears = false;
  expect(await runs.engine.up([users])).toEqual([]);
  const { id } = runs.engine.of("UserDataset", "users");
  process.env.RECOMMENDER_ADOPT = `users=${id}`;
  const errors = await runs.engine.up([users], { replace: [keyOf(users)] });
  delete process.env.RECOMMENDER_ADOPT;
  expect(errors).toEqual([]);
  expect(runs.engine.of("UserDataset", "users").id).not.toBe(id);
});

test("RECOMMENDER_ADOPT that is still set adopts nothing because of an entry of another stack", async () => {
  const { userDatasetId } = await runs.observed.call(routes.createUserDataset, request);
  await write(
    runs.entry({ urn: runs.engine.urnOf(users).replace(runs.engine.stack, "other"), lineage: "other" }),
  );
  process.env.RECOMMENDER_ADOPT = `users=${userDatasetId}`;
  const errors = await runs.engine.up([users]);
  delete process.env.RECOMMENDER_ADOPT;
  expect(errors).toEqual([]);
  expect(runs.engine.of("UserDataset", "users").id).not.toBe(userDatasetId);
});

test("RECOMMENDER_ADOPT with one object for two resources fails before anything is created", async () => {
  const { userDatasetId } = await runs.observed.call(routes.createUserDataset, request);
  runs.observed.calls();
  process.env.RECOMMENDER_ADOPT = `one=${userDatasetId},two=${userDatasetId}`;
  const [error] = await runs.engine.up([users, { ...users, name: "one" }, { ...users, name: "two" }]);
  delete process.env.RECOMMENDER_ADOPT;
  expect(error?.message).toContain(`RECOMMENDER_ADOPT gives ${userDatasetId} to both one and two`);
  expect([runs.created(), runs.engine.all()]).toEqual([0, []]);
});

/** State after a run without a response. */
const asked = (more: { key: string; at: number }) => {
  const state = { ...request, __urn: runs.engine.urnOf(users) };
  runs.engine.held.set("UserDataset users", {
    ...{ kind: "UserDataset", name: "users", inputs: state, state, binding: "dynamic" },
    ...{ broken: true, dependencies: [] },
    id: `unknown-${more.key}.${digest(request)}.${more.at}`,
  });
};

test("runs that ask about a lost call again leave one placeholder in the state", async () => {
  asked({ key: randomUUID(), at: Date.now() - 24 * 3_600_000 });
  for (let times = 0; times < 3; times++) {
    const [error] = await runs.engine.up([users]);
    expect(error?.message).toContain("RECOMMENDER_CREATE_AGAIN=users pulumi up");
  }
  expect(runs.engine.all()).toMatchObject([{ id: expect.stringMatching(/^unknown-/) }]);
});

test.each([
  ["19 hours ago is repeated with its key", -19, true],
  ["21 hours ago is not repeated", -21, false],
  ["by a clock that is minutes ahead is repeated with its key", 0.5, true],
  ["before the clock was set back is not repeated", 2, false],
])("a lost call that was sent %s", async (_, hours, isRepeated) => {
  await write(runs.entry({ at: new Date(Date.now() + hours * 3_600_000).toISOString() }));
  runs.observed.calls();
  const errors = await runs.engine.up([users]);
  const question = expect.objectContaining({
    message: expect.stringContaining("RECOMMENDER_CREATE_AGAIN=users"),
  });
  expect(errors).toEqual(isRepeated ? [] : [question]);
  expect(runs.created()).toBe(isRepeated ? 1 : 0);
});

test("an object that was found again is not reported as orphaned when its placeholder is deleted", async () => {
  const key = randomUUID();
  await runs.observed.client.call(routes.createUserDataset, request, { idempotencyKey: key });
  asked({ key, at: Date.now() });
  expect(await runs.engine.up([users])).toEqual([]);
  expect(runs.messages.filter((message) => message.includes("orphaned"))).toEqual([]);
});

test.each([
  ["0", false],
  ["false", false],
  ["", false],
  ["others", false],
  ["1", true],
  ["others, users", true],
])("RECOMMENDER_CREATE_AGAIN=%s", async (value, again) => {
  await write(runs.entry({ at: new Date(Date.now() - 30 * 3_600_000).toISOString() }));
  process.env.RECOMMENDER_CREATE_AGAIN = value;
  runs.observed.calls();
  await runs.engine.up([users]);
  delete process.env.RECOMMENDER_CREATE_AGAIN;
  expect(runs.created()).toBe(again ? 1 : 0);
});
