import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { routes } from "../../../contract";
import { definitions } from "../../../provider/definitions";
import { withPinned } from "../../../provider/deployment-job";
import { setBinding } from "../../../provider/run/engine";
import { pinnedIn } from "../../../provider/run/pinned";
import type { Properties } from "../../../provider/run/state-entry";
import { unknownValue } from "../../../provider/run/unknown-value";
import { inlineText } from "../../../records/inline";
import { contentHash, findFiles, inlineFile } from "../../../records/source";
import { ObservedService } from "../../engine/observed-service";

let observed: ObservedService;
const messages: { message: string; urn: string | undefined }[] = [];
const directory = fs.mkdtempSync(join(tmpdir(), "recommender-declaration-"));

beforeAll(async () => {
  observed = await ObservedService.start();
  setBinding({
    connect: () => {},
    engineAddress: () => undefined,
    log: async (_severity, message, urn) => void messages.push({ message, urn }),
  });
});
afterAll(async () => {
  await observed.close();
  fs.rmSync(directory, { recursive: true });
});
beforeEach(() => {
  messages.length = 0;
});

/** Lifecycle as any binding calls it: without classes, a program or the SDK. */
async function definition(type: string, more: Record<string, string> = {}) {
  const found = definitions[type];
  if (!found) throw new Error(`no definition ${type}`);
  const config: Record<string, string> = { ...observed.config, ...more };
  await found.configure({ config: { get: (key) => config[key] } });
  return found;
}

const urnOf = (type: string, name = "n") => `urn:pulumi:dev::shop::recommender:index:${type}::${name}`;

async function check(type: string, args: object, config?: Record<string, string>) {
  const news: Properties = { __urn: urnOf(type), ...args };
  const { inputs, failures } = await (await definition(type, config)).check({}, news);
  return { inputs, failures: failures.map(({ reason }) => reason) };
}

describe("records in every language", () => {
  const rows = [{ userId: "ada", attributes: { diary: "dear secret" } }, { userId: "ben" }];
  const hashOf = (text: string, format: "ndjson" | "csv" = "ndjson") =>
    contentHash([inlineFile(Buffer.from(text), format)], {});
  const users = (source: unknown, more: object = {}) =>
    check("UserRecords", { userDatasetId: "u", source, ...more });

  test("are stored as a hash: a file, an asset, text, or an array of records", async () => {
    const path = join(directory, "users.csv");
    const text = "user_id\nada\n";
    fs.writeFileSync(path, text);
    const fromFile = { source: path, contentHash: await hashOf(text, "csv") };
    for (const source of [path, { path }, { uri: `file://${path}` }])
      expect(await users(source)).toMatchObject({ inputs: fromFile, failures: [] });
    const inline = { source: expect.stringMatching(/^inline:/), contentHash: await hashOf(inlineText(rows)) };
    for (const source of [rows, { ndjson: inlineText(rows) }]) {
      const { inputs, failures } = await users(source);
      expect({ inputs, failures }).toMatchObject({ inputs: inline, failures: [] });
      expect(JSON.stringify(inputs)).not.toContain("dear secret");
    }
    const asset = await users({ text }, { format: "csv" });
    expect(asset).toMatchObject({ inputs: { contentHash: fromFile.contentHash }, failures: [] });
  });

  test("in a file are hashed once, until the file changes", async () => {
    const path = join(directory, "read-once.csv");
    fs.writeFileSync(path, "user_id\nada\n");
    const reads = jest.spyOn(jest.requireActual<typeof fs>("node:fs"), "createReadStream");
    const now = jest.spyOn(Date, "now").mockReturnValue(Date.now() + 60_000);
    const hash = async () => contentHash(await findFiles(path), {});
    try {
      const first = await hash();
      expect([await hash(), reads.mock.calls.length]).toEqual([first, 1]);
      const { atime, mtime } = fs.statSync(path);
      fs.writeFileSync(path, "user_id\nben\n");
      fs.utimesSync(path, atime, mtime);
      expect([(await hash()) === first, reads.mock.calls.length]).toEqual([false, 2]);
      // A file that was written just now may change again without a new modification time.
      now.mockRestore();
      const second = await hash();
      expect([await hash(), reads.mock.calls.length]).toEqual([second, 4]);
    } finally {
      jest.restoreAllMocks();
    }
  });

  test("with doubtful columns cause one warning per run, even if they are replaced", async () => {
    const source = rows.map(({ userId }) => ({ userId }));
    const declare = () => users(source, { mapping: { attributes: ["age"] } });
    await declare();
    await declare();
    expect(messages.filter(({ message }) => message.includes("has no column age"))).toHaveLength(1);
  });

  test("inline in the program are uploaded by the process that checked them", async () => {
    const { userDatasetId } = await observed.call(routes.createUserDataset, { name: "u", numShards: 1 });
    const { inputs } = await check("UserRecords", { userDatasetId, source: rows });
    const { outs } = await (await definition("UserRecords")).create(inputs);
    expect(outs).toMatchObject({ recordCount: 2, failedCount: 0 });
    expect(JSON.stringify(outs)).not.toContain("dear secret");
  });

  test("that are not known yet have an unknown hash", async () => {
    const open = { source: unknownValue, contentHash: unknownValue };
    for (const source of [unknownValue, [{ userId: unknownValue }]])
      expect(await users(source)).toMatchObject({ inputs: open, failures: [] });
  });

  test("that cannot be read fail the preview", async () => {
    fs.writeFileSync(join(directory, "other.csv"), "name\nada\n");
    expect((await users(join(directory, "other.csv"))).failures).toEqual([
      expect.stringMatching(/^source: .*has no column userId or user_id.*mapping: \{ userId: "COLUMN" \}/),
    ]);
    expect((await users("file:gone.csv")).failures).toEqual([
      expect.stringMatching(/^source: .*file:gone\.csv.*no such file/),
    ]);
    expect((await users("gone.csv")).failures).toEqual([expect.stringMatching(/^source: .*no such file/)]);
    expect((await users({ uri: "ftp://host/users.csv" })).failures).toEqual([
      expect.stringMatching(/^source: cannot read ftp:\/\/ addresses; use https:/),
    ]);
    const withPassword = await users("https://me:hunter2@host/users.csv");
    expect(withPassword.failures).toEqual([
      expect.stringMatching(/^source: https:\/\/host\/users\.csv: remove the user and password/),
    ]);
    expect((await users({ text: "ada" })).failures).toEqual([expect.stringMatching(/^source: .*set format/)]);
    expect((await users(undefined)).failures).toEqual([expect.stringMatching(/^source: expected a file/)]);
  });
});

describe("pinned models in every language", () => {
  const declared = { projectId: "p", generatorModelId: "m2", rankerModelId: "r2" };
  const pins = (models: object) => ({ "recommender:pinnedModels": JSON.stringify({ n: models }) });

  test("replace the models of the program, in the job too, with one warning at the deployment", async () => {
    const config = pins({ generatorModelId: "m1" });
    for (const type of ["DeploymentJob", "Deployment", "Deployment"]) {
      const args = type === "Deployment" ? { ...declared, submittedJobId: "j" } : declared;
      const { inputs, failures } = await check(type, args, config);
      expect({ inputs, failures }).toMatchObject({ inputs: { generatorModelId: "m1" }, failures: [] });
      expect(inputs).not.toHaveProperty("rankerModelId");
    }
    expect(messages).toEqual([
      { urn: urnOf("Deployment"), message: expect.stringContaining("keeps m1 live") },
    ]);
    expect(messages[0]?.message).toContain("`recommender rollback dev --undo --yes`");
  });

  test("include the rules: those of the release as JSON, or null if it had none", () => {
    const rulesWith = (pinned: object) => {
      const config = JSON.stringify({ n: { generatorModelId: "m1", ...pinned } });
      const program = { ...declared, rules: { filter: "false" } } as Properties;
      return withPinned(
        program,
        pinnedIn(() => config, "n"),
      ).rules;
    };
    expect(rulesWith({ rules: '{"filter":"true"}' })).toEqual({ filter: "true" });
    expect(rulesWith({ rules: { filter: "true" } })).toEqual({ filter: "true" });
    expect(rulesWith({ rules: "null" })).toBeUndefined();
    expect(rulesWith({})).toEqual({ filter: "false" });
  });

  test("in the environment take precedence, and pins of other deployments do not count", async () => {
    process.env.RECOMMENDER_PINNED_MODELS = JSON.stringify({ other: { generatorModelId: "m0" } });
    try {
      const { inputs } = await check("DeploymentJob", declared, pins({ generatorModelId: "m1" }));
      expect(inputs).toMatchObject(declared);
    } finally {
      delete process.env.RECOMMENDER_PINNED_MODELS;
    }
  });

  test("that are malformed fail the preview, with the command that removes them", async () => {
    await expect(check("DeploymentJob", declared, pins({ model: "m1" }))).rejects.toThrow(
      /pinnedModels: .*pulumi config rm recommender:pinnedModels/,
    );
  });
});

describe("a resource that waits for a job or adopts an object", () => {
  const asking = { projectId: "p", modelId: "m" };
  test.each<[string, object, string | RegExp]>([
    ["Model", { projectId: "p", submittedJobId: "j" }, "algorithmId is required, unless existingId is set"],
    ["Model", { projectId: "p" }, /; a TrainedModel declares this resource and its TrainingJob together$/],
    ["Model", { projectId: "p", algorithmId: "a" }, /^set submittedJobId to the jobId of a TrainingJob, or/],
    ["Model", { projectId: "p", existingId: "m", algorithmId: "a" }, /remove algorithmId and triggers/],
    ["Model", { projectId: "p", existingId: "m", triggers: [1] }, /remove algorithmId and triggers/],
    [
      "Deployment",
      { projectId: "p", generatorModelId: "m" },
      /the jobId of a DeploymentJob, .*; a DeployedModel declares/,
    ],
    [
      "UserQuery",
      { ...asking, queryType: "user_list", queries: [] },
      /the jobId of a QueryingJob, .*; a UserQueryResult declares/,
    ],
    [
      "UserClustering",
      { ...asking, parameters: {} },
      /the jobId of a ClusteringJob, .*; a UserClusteringResult declares/,
    ],
    [
      "UserRecommendations",
      { projectId: "p" },
      /the jobId of a RecommendationJob, .*; a UserRecommendationsResult declares/,
    ],
  ])("%s %j is rejected at preview", async (type, args, reason) => {
    const { failures } = await check(type, args);
    expect(failures[0]).toEqual(typeof reason === "string" ? reason : expect.stringMatching(reason));
  });

  test("is not checked if a resource that it depends on has failed", async () => {
    const __unresolved = ["algorithmId", "submittedJobId"];
    const { inputs, failures } = await check("Model", { projectId: "p", __unresolved });
    expect(failures).toEqual([]);
    // In an update, the engine aborts the run on an unknown value.
    expect(inputs).toEqual({ projectId: "p", name: "n", __urn: urnOf("Model") });
    const records = { userDatasetId: "u", __unresolved: ["source"] };
    expect(JSON.stringify((await check("UserRecords", records)).inputs)).not.toContain(unknownValue);
  });

  test("is rejected with all of its errors", async () => {
    const { failures } = await check("Model", { projectId: "p", algorithmId: "a", nmae: "m" });
    expect(failures).toEqual([
      expect.stringMatching(/^set submittedJobId/),
      expect.stringMatching(/nmae is unknown; did you mean name\?/),
    ]);
    const adopted = await check("Model", { projectId: "p", existingId: "m", triggers: [1] });
    expect(adopted.failures).toEqual([expect.stringMatching(/remove algorithmId and triggers/)]);
  });
});

test("download addresses that need no credentials are always secret", () => {
  const secret = Object.values(definitions).filter(({ secretOutputs }) => secretOutputs.length > 0);
  expect(secret.map(({ type, secretOutputs }) => [type, secretOutputs])).toEqual([
    ["UserClustering", ["downloadUrl"]],
    ["UserQuery", ["downloadUrl"]],
    ["UserRecommendations", ["downloadUrl"]],
  ]);
});
