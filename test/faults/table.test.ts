import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Route, routes } from "../../contract";
import { ObservedService } from "../engine/observed-service";
import { TestDirectory } from "../records/test-directory";
import { type BindingName, Bindings, bindingNames } from "./bindings";
import { stall } from "./faults";
import { FaultProxy } from "./proxy";
import { LocalStack } from "./runs";
import { type Act, type Kind, makeWorld, type Scene, scenes } from "./scenes";
import { type Trouble, troubles } from "./troubles";

/**
 * The short form tries an eighth of the cells, spread over all faults and scenes. Each cell uses one of the two bindings.
 * After two rounds it has used both, because the number of scenes is odd.
 */
const isShort = process.env.RECOMMENDER_TESTS === "short";
const rounds = Number(process.env.ROUNDS ?? (isShort ? 1 : 2));
const isTried = (trouble: string, scene: Scene, keys: boolean) =>
  !isShort || (Object.keys(troubles).indexOf(trouble) + all.indexOf(scene)) % 8 === (keys ? 4 : 0);

type Outcome = "once" | "asks";

/** Table in the documentation. Each of its rows is tested here. */
const table = new Map(
  readFileSync(join(__dirname, "../../docs/reliability.md"), "utf8")
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter((cells) => cells.length === 7 && (cells[1] as string) in troubles)
    .map(([, what, ...outcomes]) => [what as string, outcomes as Outcome[]]),
);

function promised(what: string, kind: Kind, keys: boolean): Outcome {
  const column = kind === "reads" ? 0 : kind === "changes" ? 1 : keys ? 2 : 3;
  return table.get(what)?.[column] as Outcome;
}

const directory = new TestDirectory();
const bindings = new Bindings();
let observed: ObservedService;
let proxy: FaultProxy;
let stack: LocalStack;
let all: Scene[];

beforeAll(async () => {
  observed = await ObservedService.start({ planShards: 100_000 });
  proxy = await FaultProxy.start(observed.service);
  const { url } = proxy;
  const addresses = { "recommender:baseUrl": url, "recommender:tokenUrl": `${url}/oauth/token` };
  stack = new LocalStack({ ...observed.config, ...addresses }, bindings);
  all = scenes(observed, stack, await makeWorld(observed), directory);
});
afterAll(async () => {
  await stack.close();
  bindings.close();
  await proxy.close();
  await observed.close();
  directory.remove();
});

let cell = 0;
/** Runs a scene with a fault. */
async function play(scene: Scene, { fault, lasts }: Trouble, keys: boolean) {
  const name = `n${cell}`;
  const binding = bindingNames[cell++ % 2] as BindingName;
  proxy.hidesKeys = !keys;
  proxy.clear();
  await stack.begin(binding);
  const act = await scene.prepare(name);
  const stalls = fault(stack) === stall;
  await stack.begin(binding, stalls ? { bodyMs: 200 } : {});
  proxy.clear();
  proxy.on(scene.call, fault(stack), lasts ? { times: Number.POSITIVE_INFINITY } : {});
  const before = stack.clock.now();
  const error = await act.act().then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  return { act, binding, error, waitedMs: stack.clock.now() - before };
}

/** Runs the scene again without faults, in a new run with the other binding. */
async function again(act: Act, env: Record<string, string> = {}): Promise<Error | undefined> {
  await stack.begin(bindingNames[1 - bindingNames.indexOf(stack.binding)] as BindingName);
  proxy.clear();
  Object.assign(process.env, env);
  try {
    await observed.service.idle();
    return await act.act().then(
      () => undefined,
      (thrown: Error) => thrown,
    );
  } finally {
    for (const key of Object.keys(env)) delete process.env[key];
  }
}

test("the documented table lists every fault, and the scenes cover every call of a lifecycle", () => {
  expect([...table.keys()].sort()).toEqual(Object.keys(troubles).sort());
  // No lifecycle deletes single records, which stay until their dataset is deleted, or judges the age of a model.
  const notOurs = [
    "DELETE /delete-dataset-user-events",
    "DELETE /delete-dataset-events-before-ts",
    "GET /count-model-events",
  ];
  // If a call of an extension fails, the lifecycles continue without it.
  const isCalled = (route: Route) => !route.extension || /^\/(get|count)-/.test(route.path);
  const calls = Object.values(routes)
    .filter(isCalled)
    .map(({ method, path }) => `${method} ${path}`);
  expect(all.length % bindingNames.length).toBe(1);
  const played = new Set(all.map(({ call }) => call));
  expect([...played].sort()).toEqual(calls.filter((call) => !notOurs.includes(call)).sort());
});

describe.each([
  ["that honours keys", true],
  ["that honours no keys", false],
])("a service %s", (_, keys) => {
  test.each(Object.keys(troubles))("%s", async (what) => {
    const trouble = troubles[what] as Trouble;
    const tried = all.filter((scene) => isTried(what, scene, keys));
    const covered: Record<BindingName, Set<Scene>> = { dynamic: new Set(), plugin: new Set() };
    for (const scene of Array<Scene[]>(rounds).fill(tried).flat()) {
      const outcome = promised(what, scene.kind, keys);
      const { act, binding, error, waitedMs } = await play(scene, trouble, keys);
      covered[binding].add(scene);
      const seen = { call: scene.call, outcome: outcome as string, error: error?.message };
      expect(proxy.came).toContain(scene.call);
      const [least, most] = trouble.waitMs ?? [0, Number.POSITIVE_INFINITY];
      expect({ ...seen, waited: waitedMs >= least && waitedMs <= most, waitedMs }).toMatchObject({
        waited: true,
      });
      if (outcome === "once") {
        expect({ ...seen, done: await act.done() }).toEqual({ ...seen, error: undefined, done: 1 });
      }
      if (outcome === "asks") {
        const made = await act.done();
        expect(seen.error).toMatch(/RECOMMENDER_ADOPT/);
        // No other object was created.
        const next = (await again(act))?.message;
        expect({ ...seen, next, done: await act.done() }).toEqual({
          ...seen,
          next: expect.stringMatching(
            /RECOMMENDER_ADOPT=\S+=\S+ pulumi up.*RECOMMENDER_CREATE_AGAIN=\S+ pulumi up/,
          ),
          done: made,
        });
        const name = /RECOMMENDER_ADOPT=([^=\s]+)=/.exec(seen.error ?? "")?.[1];
        const answer =
          made === 1 && act.madeId ? { RECOMMENDER_ADOPT: `${name}=${act.madeId()}` } : undefined;
        const cured = await again(act, answer ?? { RECOMMENDER_CREATE_AGAIN: "1" });
        const done = answer ? 1 : made + 1;
        expect({ ...seen, cured, done: await act.done() }).toEqual({ ...seen, cured: undefined, done });
        expect({ ...seen, after: await again(act), done: await act.done() }).toEqual({
          ...seen,
          after: undefined,
          done,
        });
      }
    }
    for (const { size } of Object.values(covered))
      expect(size).toBeGreaterThanOrEqual(rounds > 1 ? tried.length : Math.floor(tried.length / 2));
  });
});
