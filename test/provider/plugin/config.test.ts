import { readSettings } from "../../../client/settings";
import { routes } from "../../../contract";
import { strictestRequirements } from "../../../provider/plugin/config";
import { unknownValue } from "../../../provider/run/unknown-value";
import { ObservedService } from "../../engine/observed-service";
import { fixed } from "../../faults/program";
import { trainedProject } from "../trained-project";
import { shortKeys } from "./plugin-connection";
import { PluginProcess, secret } from "./plugin-process";

let observed: ObservedService;
let plugin: PluginProcess;
beforeAll(async () => {
  observed = await ObservedService.start();
  plugin = await PluginProcess.start(undefined, { name: "mine" });
});
afterAll(async () => {
  await plugin.stop();
  await observed.close();
});

const remote = { baseUrl: "https://api.example.com", apiKey: "k-1", accessToken: "t-1" };

test("credentials are always secret, and values that the program marks as secret stay secret", async () => {
  const { inputs, failures } = await plugin.checkConfig({ ...remote, baseUrl: secret(remote.baseUrl) });
  expect(failures).toEqual([]);
  expect(inputs).toEqual({
    baseUrl: secret(remote.baseUrl),
    apiKey: secret("k-1"),
    accessToken: secret("t-1"),
  });
});

test("a mistyped key is rejected, and the error suggests the right one", async () => {
  const { failures } = await plugin.checkConfig({ baseURL: "x" });
  expect(failures).toEqual([expect.stringMatching(/recommender:baseURL is unknown; did you mean baseUrl\?/)]);
});

test("the meaning of the address is reported once per provider, without secrets", async () => {
  const own = await PluginProcess.start({ ...remote, baseUrl: "http://api.example.com" }, { name: "mine" });
  await own.check("EventDataset", { numShards: 1 });
  await own.stop();
  expect(own.messages.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^recommender:baseUrl is at http:\/\/api\.example\.com, without TLS/),
  ]);
  expect(JSON.stringify(own.messages)).not.toMatch(/k-1|t-1/);
});

test("the pins of a stack apply to explicit providers too, and are not their inputs", async () => {
  const pins = JSON.stringify({ it: { generatorModelId: "m-former" } });
  expect((await plugin.checkConfig({ ...remote, pinnedModels: pins })).failures).toEqual([
    expect.stringMatching(/recommender:pinnedModels is unknown.*Remove it from the provider's inputs/),
  ]);
  const env = { PULUMI_CONFIG: JSON.stringify({ pinnedModels: pins, baseUrl: "https://elsewhere" }) };
  const own = await PluginProcess.start(shortKeys(observed.config), { name: "mine", env });
  const news = { projectId: "p-1", generatorModelId: "m-new", rankerModelId: "m-2", submittedJobId: "j-1" };
  const { inputs } = await own.check("Deployment", news);
  await own.stop();
  expect(inputs).toMatchObject({ generatorModelId: "m-former" });
  expect(inputs).not.toHaveProperty("rankerModelId");
});

test("missing, wrong and contradictory settings are rejected without showing their values", async () => {
  const refused = async (news: object) => (await plugin.checkConfig({ ...news })).failures.join();
  expect(await refused({ baseUrl: remote.baseUrl })).toMatch(
    /recommender:apiKey is not set.*input of the provider/,
  );
  expect(await refused({ ...remote, jobPollMs: "soon" })).toMatch(/jobPollMs: expected a whole number/);
  expect(await refused({ ...remote, tokenCommand: "echo t-2" })).toMatch(/contradict each other/);
  expect(await refused({ ...remote, tokenCommand: "echo t-2" })).not.toMatch(/k-1|t-1|t-2/);
});

test.each(["apiKey", "accessToken"])(
  "%s with characters that are invalid in a header is rejected by name, without its value",
  async (key) => {
    for (const value of ["hunter2\n", "hunter2 😀"]) {
      const [failure, ...others] = (await plugin.checkConfig({ ...remote, [key]: secret(value) })).failures;
      expect(others).toEqual([]);
      expect(failure).toMatch(
        new RegExp(`^recommender:${key}: it contains characters that are not allowed in an HTTP header`),
      );
      expect(failure).not.toContain("hunter2");
    }
  },
);

test("a preview accepts unknown values", async () => {
  const { failures, inputs } = await plugin.checkConfig({ ...remote, apiKey: unknownValue });
  expect(failures).toEqual([]);
  expect(inputs.apiKey).toEqual(secret(unknownValue));
});

test("a changed setting is reported by its key and replaces nothing", async () => {
  expect(await plugin.diffConfig(remote, remote)).toMatchObject({ changes: false, detailed: {} });
  expect(await plugin.diffConfig(remote, { ...remote, baseUrl: "https://b", parallel: "2" })).toEqual({
    changes: true,
    replaces: [],
    detailed: { baseUrl: "UPDATE", parallel: "ADD" },
  });
});

test.each([
  ["a provider of the program's own has its inputs win over the environment", "mine", "stack"],
  [
    "for the default provider, the environment wins over the configuration of the stack",
    "default",
    "environment",
  ],
])("%s", async (_, name, winner) => {
  const other = await ObservedService.start();
  const own = await PluginProcess.start(shortKeys(observed.config), { env: other.environment, name });
  try {
    await own.create("EventDataset", (await own.check("EventDataset", { numShards: 1 })).inputs);
    const [asked, idle] = winner === "stack" ? [observed, other] : [other, observed];
    expect(asked.calls()).toContain("POST /create-event-dataset");
    expect(idle.calls()).toEqual([]);
  } finally {
    await own.stop();
    await other.close();
  }
});

describe("a requirement that a promotion sets in the environment", () => {
  const rank = "RECOMMENDER_MIN_QUALITY";
  const settingsOf = (inputs: object, env: object) => {
    const given = inputs as Record<string, string>;
    const merged = { ...env, ...strictestRequirements((key) => given[key], env as NodeJS.ProcessEnv) };
    const { minQuality, rollback } = readSettings(() => undefined, merged);
    return { minQuality, rollback };
  };

  test.each([
    [{ minQuality: '{"weekly":0.2}' }, { weekly: 0.4 }, { weekly: 0.4 }],
    [{ minQuality: '{"weekly":0.6}' }, { weekly: 0.4 }, { weekly: 0.6 }],
    [{ minQuality: "0.5" }, { weekly: 0.4 }, { "*": 0.5, weekly: 0.5 }],
    [{ minQuality: '{"daily":0.1}' }, { weekly: 0.4, "*": 0.2 }, { daily: 0.2, weekly: 0.4, "*": 0.2 }],
    [{}, { weekly: 0.4 }, { weekly: 0.4 }],
  ])("with %j and %j is the higher minimum of each model", (inputs, demanded, minQuality) => {
    expect(settingsOf(inputs, { [rank]: JSON.stringify(demanded) }).minQuality).toEqual(minQuality);
  });

  test("enables rollback even if an explicit provider does not, and vice versa", () => {
    const variable = (value: string) => ({ RECOMMENDER_ROLLBACK: value });
    expect(settingsOf({ rollback: "false" }, variable("true")).rollback).toBe(true);
    expect(settingsOf({ rollback: "true" }, variable("false")).rollback).toBe(true);
    expect(settingsOf({ rollback: "false" }, variable("false")).rollback).toBe(false);
  });

  test("applies to an explicit provider with its own minimum", async () => {
    const { projectId } = await trainedProject(observed);
    const config = { ...shortKeys(observed.config), minQuality: '{"it":0.1}', rollback: "false" };
    const env = { [rank]: '{"it":1}', RECOMMENDER_ROLLBACK: "true" };
    const own = await PluginProcess.start(config, { env, name: "mine" });
    const algorithmParameters = { dimensions: 8, ...fixed };
    const { algorithmId } = await observed.call(routes.createAlgorithm, {
      projectId,
      name: "g1",
      algorithmParameters,
    });
    const job = await own.create("TrainingJob", { projectId, algorithmId, name: "it", triggers: [] });
    const news = { projectId, algorithmId, name: "it", submittedJobId: job.id };
    await expect(own.create("Model", news)).rejects.toThrow(/requires at least 1\.0000/);
    await own.stop();
  });
});

test("credentials from the environment are not sent to the address of an explicit provider", async () => {
  const env = { RECOMMENDER_API_KEY: "k-env", RECOMMENDER_ACCESS_TOKEN: "t-env" };
  const own = await PluginProcess.start(undefined, { env, name: "default_eu" });
  expect((await own.checkConfig({ baseUrl: remote.baseUrl })).failures).toEqual([
    "recommender:apiKey is not set, and RECOMMENDER_API_KEY is not sent to an address that the program sets. " +
      "Set apiKey as an input of the provider.",
  ]);
  await own.stop();
});

test("the inputs of a provider can be secret", async () => {
  const sealed = Object.entries(shortKeys(observed.config)).map(([key, value]) => [key, secret(value)]);
  const own = await PluginProcess.start(Object.fromEntries(sealed), { name: "mine" });
  await expect(own.invoke("listEventDatasets", {})).resolves.toHaveProperty("eventDatasets");
  await own.stop();
});

test("an address and a key are enough for a provider, and errors of a check and a call name missing ones", async () => {
  const { baseUrl, apiKey } = shortKeys(observed.config);
  expect((await plugin.checkConfig({ baseUrl, apiKey })).failures).toEqual([]);
  const own = await PluginProcess.start({ baseUrl, apiKey }, { name: "mine" });
  const wrong = await PluginProcess.start({ baseUrl, apiKey: "of-another-service" }, { name: "mine" });
  try {
    await expect(own.invoke("listEventDatasets", {})).resolves.toHaveProperty("eventDatasets");
    expect((await own.check("EventDataset", { numShards: 1 })).failures).toEqual([]);
    const message =
      /\/oauth\/token rejects recommender:apiKey \(401 UNAUTHENTICATED\)\. Check with `recommender whoami/;
    await expect(wrong.invoke("listEventDatasets", {})).rejects.toThrow(message);
    await expect(wrong.check("EventDataset", { numShards: 1 })).rejects.toThrow(message);
  } finally {
    await own.stop();
    await wrong.stop();
  }
});

test("settings that an explicit provider omits come from the environment", async () => {
  const { jobPollMs: _, ...config } = shortKeys(observed.config);
  const own = await PluginProcess.start(config, { env: { RECOMMENDER_JOB_POLL_MS: "soon" }, name: "mine" });
  try {
    await expect(own.check("EventDataset", { numShards: 1 })).rejects.toThrow(/jobPollMs/);
  } finally {
    await own.stop();
  }
});
