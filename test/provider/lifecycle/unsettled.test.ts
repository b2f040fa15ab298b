import { z } from "zod";
import { Client, fixedToken } from "../../../client/client";
import { systemClock } from "../../../client/clock";
import { readSettings } from "../../../client/settings";
import { lifecycle } from "../../../provider/lifecycle/lifecycle";
import { setBinding } from "../../../provider/run/engine";
import { InitialState } from "../../../provider/run/initial-state";
import { Run, useSession } from "../../../provider/run/session";
import { stackState } from "../../faults/bindings";

const config: Record<string, string> = {
  ...{ "recommender:baseUrl": "http://127.0.0.1:9", "recommender:apiKey": "k" },
  ...{ "recommender:tokenUrl": "http://127.0.0.1:9/oauth/token" },
  ...{ "recommender:clientId": "c", "recommender:clientSecret": "s" },
};
const __urn = "urn:pulumi:dev::shop::pulumi-nodejs:dynamic/recommender:Probe::probe";
const looked: string[] = [];

/** Resource that cannot be read, and is unsettled until its note is "done". */
const probe = lifecycle({
  type: "Probe",
  args: z.strictObject({ name: z.string() }),
  outputs: z.object({ note: z.string().optional() }),
  replaceOn: [],
  calls: () => ({}),
  create: async () => ({ id: "probe-1" }),
  update: async () => ({ note: "done" }),
  unsettled: async ({ note }) => (note === "done" ? undefined : { note: "open" }),
});

let client: Client;
beforeAll(async () => {
  setBinding({ connect: () => {}, engineAddress: () => undefined, log: async () => {} });
  const settings = readSettings((key) => config[`recommender:${key}`], {});
  client = new Client({ baseUrl: settings.baseUrl, apiKey: "k", token: fixedToken("t") });
  useRun();
  await probe.configure({ config: { get: (key: string) => config[key] } });
});
afterAll(() => client.close());

/** Starts a new run. */
function useRun(): void {
  const settings = readSettings((key) => config[`recommender:${key}`], {});
  const initial = new InitialState(async ({ urn }) => {
    looked.push(urn);
    return { pending: [] };
  });
  const run = new Run(
    stackState(async () => []),
    new AbortController().signal,
    initial,
  );
  useSession({ settings, client, clock: systemClock, run });
}

test("a refresh marks an unsettled resource, and no other resource", async () => {
  const { props } = await probe.read("probe-1", { __urn, name: "n" });
  expect(props).toMatchObject({ name: "n", note: "open" });
  expect(props).not.toHaveProperty("__upload");
  expect((await probe.read("probe-1", { __urn, name: "n", note: "done" })).props).toMatchObject({
    note: "done",
  });
});

test("an unsettled resource is updated even if no argument changes", async () => {
  expect((await probe.diff("probe-1", { __urn, name: "n" }, { __urn, name: "n" })).changes).toBe(true);
  expect(
    (await probe.diff("probe-1", { __urn, name: "n", note: "done" }, { __urn, name: "n" })).changes,
  ).toBe(false);
});

test("the state is read once, when the first resource is checked, even if that resource is new", async () => {
  looked.length = 0;
  useRun();
  await probe.check({}, { __urn, name: "n" });
  expect(looked).toEqual([__urn]);
  for (let times = 0; times < 2; times++) await probe.check({ __urn, name: "n" }, { __urn, name: "n" });
  expect(looked).toEqual([__urn]);
});

test("the state is read before a check fails, because the engine then drops its notes of a killed run", async () => {
  looked.length = 0;
  useRun();
  process.env.RECOMMENDER_ADOPT = "a=x,b=x";
  try {
    await expect(probe.check({}, { __urn, name: "n" })).rejects.toThrow(/RECOMMENDER_ADOPT/);
  } finally {
    delete process.env.RECOMMENDER_ADOPT;
  }
  expect(looked).toEqual([__urn]);
});
