import { consequenceOfChange } from "../../../cli/drift/consequence";
import { shouldFail } from "../../../cli/drift/fail-on";
import { findDrift, findPendingChanges } from "../../../cli/drift/findings";
import { FixCommands } from "../../../cli/drift/fix-commands";
import { languageOf } from "../../../cli/drift/language";
import { findDeclarations } from "../../../cli/drift/location";
import { redactAll, secretTexts } from "../../../cli/drift/masking";
import { differences } from "../../../cli/drift/property-diff";
import { definitionOf } from "../../../cli/drift/resource";
import { takeInventory, unmanagedOf } from "../../../cli/drift/unmanaged";
import { type Step, stateBeforeSteps } from "../../../cli/stack/preview";
import type { Client } from "../../../client/client";
import { routes } from "../../../contract";
import * as recommender from "../../../provider";
import { resourceTypeOf } from "../../../provider/run/urn";
import { change, cleanStack, drifted, reportOf, stackReport } from "./sample";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const secret = {
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  ciphertext: "[secret]",
};

describe("differences of properties", () => {
  test("are listed by path, without private properties; null counts as absent", () => {
    const declared = { __urn: "a", name: "x", schema: { age: "N", "a b": 1 }, list: [1, 2], none: null };
    const actual = { __urn: "b", name: "y", schema: { age: "C" }, list: [1, 3] };
    expect(differences(declared, actual)).toEqual([
      { path: "list[1]", declared: 2, actual: 3 },
      { path: "name", declared: "x", actual: "y" },
      { path: 'schema["a b"]', declared: 1 },
      { path: "schema.age", declared: "N", actual: "C" },
    ]);
  });

  test("mask secrets and mark unknown values", () => {
    expect(differences({ a: secret, b: unknown, c: { d: secret } }, { a: "plain", b: "b", c: 1 })).toEqual([
      { path: "a", declared: "[secret]", actual: "plain", secret: true },
      { path: "b", declared: "[not known yet]", actual: "b", unknown: true },
      { path: "c", declared: { d: "[secret]" }, actual: 1, secret: true },
    ]);
  });
});

test("masks secrets of the configuration and the environment at any depth", () => {
  const config = {
    "shop:key": { value: "s3cr3t-value", secret: true },
    "shop:all": { value: '{"deep":{"er":"another-secret"}}', secret: true },
    "shop:open": { value: "not-a-secret", secret: false },
    "recommender:apiKey": { value: "plainly-kept-key" },
  };
  const secrets = secretTexts(config, { RECOMMENDER_CLIENT_SECRET: "from-environment" });
  const text = "s3cr3t-value another-secret not-a-secret plainly-kept-key from-environment";
  expect(redactAll({ text: [text] }, secrets)).toEqual({
    text: ["[secret] [secret] not-a-secret [secret] [secret]"],
  });
});

describe("the position of a declaration", () => {
  test("is found by type and name, also if the name is computed, but not in comments", () => {
    const text = [
      '// new recommender.EventDataset("a", {})',
      'const a = new recommender.EventDataset("a", {',
      "  /* new Model('b') */ numShards: 1 });",
      "  const b = new Model<X>(",
      "    'b', {});",
      `for (const n of [1]) new recommender.Model(\`m\${n}\`, {}); new Algorithm(name)`,
    ].join("\n");
    expect(findDeclarations("x.ts", text, languageOf("nodejs"))).toEqual([
      { file: "x.ts", line: 2, column: 11, type: "EventDataset", name: "a" },
      { file: "x.ts", line: 4, column: 13, type: "Model", name: "b" },
      { file: "x.ts", line: 6, column: 22, type: "Model", name: `m\${n}` },
      { file: "x.ts", line: 6, column: 58, type: "Algorithm", name: undefined },
    ]);
  });
});

test("a change of the live models is reverted by a deployment, and accepted by an update", () => {
  const { effect, fixes } = drifted("changed", "Deployment", "live", [
    { path: "qps", declared: 9, actual: 5 },
  ]);
  expect(effect).toBe("redeploys");
  expect(fixes.apply.command).toContain("pulumi up --refresh --stack dev --target");
  expect(fixes.accept.command).toBe("pulumi up --refresh --stack dev");
  const moved = drifted("changed", "Deployment", "live", [
    { path: "servingUri", declared: "a", actual: "b" },
  ]);
  expect(moved.effect).toBe("none");
});

describe("--fail-on", () => {
  const clean = reportOf(cleanStack());
  const changes = reportOf({ ...cleanStack(), changes: [change("update", "Deployment", "live")] });
  const replaced = reportOf({ ...cleanStack(), changes: [change("replace", "Project", "p")] });
  const drift = reportOf({ ...cleanStack(), drift: [drifted("changed", "Model", "m")] });

  test("selects only the given findings", () => {
    const outcome = (on: Parameters<typeof shouldFail>[1]) =>
      [clean, changes, replaced, drift].map((report) => shouldFail(report, on));
    expect(outcome(["drift", "changes"])).toEqual([false, true, true, true]);
    expect(outcome(["drift"])).toEqual([false, false, false, true]);
    expect(outcome(["changes"])).toEqual([false, true, true, false]);
    expect(outcome(["replace"])).toEqual([false, false, true, false]);
    expect(outcome(["unmanaged"])).toEqual([false, false, false, false]);
    expect(outcome(["orphans"])).toEqual([false, false, false, false]);
    expect(shouldFail(reportOf(stackReport()), ["orphans"])).toBe(true);
    expect(outcome(["none"])).toEqual([false, false, false, false]);
  });
});

describe("a replaced model whose replacement is not deployed yet", () => {
  const type = "recommender:index:Model";
  const urn = `urn:pulumi:dev::shop::${type}::weekly`;
  const outputs = { projectId: "p" };
  const row = (id: string, leaving: boolean) => ({ urn, type, id, outputs, custom: true, delete: leaving });
  const step = (op: string, old: object) => ({ op, type, urn, old, new: old }) as unknown as Step;
  const rows = [row("m1", true), row("m2", false)];

  test.each([rows, rows.toReversed()])("counts as managed, and so does its replacement", async (...order) => {
    const client = {
      service: "one",
      call: async (route: unknown) =>
        route === routes.listModels
          ? { models: ["m1", "m2", "m3"].map((modelId) => ({ modelId, name: "weekly" })) }
          : { eventDatasets: [] },
      supports: async () => false,
      close: async () => {},
    } as unknown as Client;
    const state = stateBeforeSteps({ steps: order.map((old) => step("refresh", old)), warnings: [] });
    expect(state).toEqual(order);
    const inventory = await takeInventory(state, async () => client);
    const [unmanaged = []] = unmanagedOf([inventory]);
    expect(unmanaged.map(({ id }) => id)).toEqual(["m3"]);
  });

  test("is not drift if it no longer exists, because the next update would delete it", () => {
    const gone = { steps: [step("delete", rows[0] as object)], warnings: [] };
    const commands = new FixCommands("dev", process.cwd(), [], languageOf("nodejs"));
    expect(findDrift(gone, { commands, state: [], locate: () => undefined })).toEqual([]);
  });
});

describe("each resource type of the package", () => {
  const types = Object.entries(recommender as Record<string, unknown>)
    .filter(([, noun]) => typeof noun === "function" && "lifecycle" in noun)
    .map(([name]) => name);

  test.each(types)("%s has its own consequences for changes", (type) => {
    expect(resourceTypeOf(`pulumi-nodejs:dynamic/recommender:${type}`)).toBe(type);
    expect(definitionOf(`pulumi-nodejs:dynamic/recommender:${type}`)).toMatchObject({
      readable: expect.any(Boolean),
    });
    const others = consequenceOfChange("aws:s3/bucket:Bucket", "replace", []);
    expect(consequenceOfChange(type, "replace", [])).not.toEqual(others);
  });
});

describe("drift", () => {
  const type = (noun: string) => `pulumi-nodejs:dynamic/recommender:${noun}`;
  const urn = (noun: string, name: string) => `urn:pulumi:dev::shop::${type(noun)}::${name}`;
  const step = (op: "update" | "delete", noun: string, name: string, old: object, now: object) => {
    const state = (outputs: object) => ({ outputs, inputs: {}, id: "1" });
    return {
      op,
      type: type(noun),
      urn: urn(noun, name),
      old: state(old),
      new: state(now),
    } as unknown as Step;
  };
  const reading = (state: { urn: string; type: string; dependencies?: string[] }[] = []) => ({
    commands: new FixCommands("dev", process.cwd(), [], languageOf("nodejs")),
    state,
    locate: () => undefined,
  });

  test("does not include a renewed download address", () => {
    const renewed = step(
      "update",
      "UserQuery",
      "q",
      { downloadUrl: "a", expiredAtSec: 1 },
      { downloadUrl: "b", expiredAtSec: 2 },
    );
    expect(findDrift({ steps: [renewed], warnings: [] }, reading())).toEqual([]);
  });

  test("that cannot be reverted in place reports that events are lost", () => {
    const other = step("update", "EventDataset", "e", { numShards: 2 }, { numShards: 3 });
    const [finding] = findDrift({ steps: [other], warnings: [] }, reading());
    expect(finding).toMatchObject({
      effect: "loses data",
      consequence: "It cannot be changed back. Reverting replaces it and loses its events.",
      properties: [{ path: "numShards", declared: 2, actual: 3, replaces: true }],
    });
  });

  test("of a deployment whose calls get responses from elsewhere is reported as not serving", () => {
    const failed = step("update", "Deployment", "live", { qps: 1 }, { qps: 1, checkFailed: true });
    const [finding] = findDrift({ steps: [failed], warnings: [] }, reading());
    expect(finding).toMatchObject({ kind: "not serving", effect: "in place" });
    expect(finding?.fixes.apply.command).toMatch(/^pulumi up --refresh .*--target \S+$/);
    expect(finding?.fixes.accept.command).toMatch(/^pulumi refresh /);
  });

  test("of a dependent of a deleted resource is reverted together with it", () => {
    const steps = [step("delete", "Model", "m", {}, {}), step("delete", "Deployment", "live", {}, {})];
    const state = [
      { urn: urn("Model", "m"), type: type("Model") },
      { urn: urn("Deployment", "live"), type: type("Deployment"), dependencies: [urn("Model", "m")] },
    ];
    const [model, deployment] = findDrift({ steps, warnings: [] }, reading(state));
    expect(model?.consequence).toMatch(/This also changes or recreates its dependents: Deployment live\./);
    expect(deployment?.fixes.apply).toEqual(model?.fixes.apply);
    expect(deployment?.consequence).toMatch(/depends on Model m, which was deleted too/);
  });
});

describe("the fix that rejects a pending change", () => {
  const type = (noun: string) => `recommender:index:${noun}`;
  const urn = (noun: string, name: string) => `urn:pulumi:dev::shop::${type(noun)}::${name}`;
  const step = (noun: string, name: string, olds: object, news: object, op = "update") =>
    ({
      op,
      type: type(noun),
      urn: urn(noun, name),
      old: { inputs: olds },
      new: { inputs: news },
    }) as unknown as Step;
  const row = (noun: string, name: string, from: Record<string, string[]>) => ({
    urn: urn(noun, name),
    type: type(noun),
    custom: true,
    propertyDependencies: from,
  });
  const changes = (steps: Step[], state: ReturnType<typeof row>[] = []) =>
    findPendingChanges(
      { steps, warnings: [] },
      {
        commands: new FixCommands("dev", process.cwd(), [], languageOf("nodejs")),
        state,
        locate: () => ({ file: "index.ts", line: 43, column: 1 }),
      },
    );

  test("names no job, and deploys the models that a rollback restored", () => {
    const olds = { generatorModelId: "m1", submittedJobId: "job-1", qps: 1 };
    const news = { ...olds, generatorModelId: "m2", submittedJobId: "job-2" };
    const [finding] = changes([step("Deployment", "live", olds, news)]);
    expect(finding?.fixes.accept).toEqual({
      edit: 'declare generatorModelId: "m1" in index.ts:43',
      command: "pulumi up --stack dev",
    });
    expect(finding?.properties.map(({ path }) => path)).toEqual(["generatorModelId"]);
  });

  test("declares complete arguments", () => {
    const schema = (place: string) => ({ attributeSchema: { place, age: "NUMERICAL" } });
    const [finding] = changes([step("EventDataset", "events", schema("CATEGORICAL"), schema("NUMERICAL"))]);
    expect(finding?.fixes.accept.edit).toBe(
      'declare attributeSchema: { "place": "CATEGORICAL", "age": "NUMERICAL" } in index.ts:43',
    );
  });

  test("points to the records that cause a training", () => {
    const records = step("EventRecords", "history", { contentHash: "sha256:1" }, { contentHash: "sha256:2" });
    const job = step(
      "TrainingJob",
      "weekly",
      { triggers: ["sha256:1"] },
      { triggers: ["sha256:2"] },
      "replace",
    );
    const model = step("Model", "weekly", { submittedJobId: "j1" }, { submittedJobId: unknown }, "replace");
    const state = [row("TrainingJob", "weekly", { triggers: [urn("EventRecords", "history")] })];
    const found = changes([records, job, model], state);
    const edits = Object.fromEntries(found.map(({ resource, fixes }) => [resource.type, fixes.accept.edit]));
    expect(edits).toEqual({
      Model: "nothing to edit here: Model weekly follows EventRecords history",
      EventRecords: "declare the former records in index.ts:43",
    });
  });
});
