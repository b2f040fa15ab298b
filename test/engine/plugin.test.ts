import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { routes } from "../../contract";
import { provideHosts, whyUnavailable } from "../../tools/engine/provide.js";
import { fixed } from "../faults/program";
import { testUnless } from "../unless";
import { ObservedService } from "./observed-service";
import { secretsProvider } from "./workspace";

const run = promisify(execFile);
const repository = join(__dirname, "../..");

interface Row {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly outputs?: Record<string, unknown>;
}

const testYaml = testUnless(whyUnavailable("hosts"));

let observed: ObservedService;
let directory: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  const { bin } = await provideHosts();
  observed = await ObservedService.start();
  directory = await realpath(await mkdtemp(join(tmpdir(), "recommender-yaml-")));
  for (const name of ["home", "state"]) await mkdir(join(directory, name));
  env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    PULUMI_HOME: join(directory, "home"),
    PULUMI_BACKEND_URL: `file://${join(directory, "state")}`,
    PULUMI_SKIP_UPDATE_CHECK: "1",
    XDG_STATE_HOME: join(directory, "journal"),
  };
  await declare({});
  await pulumi("stack", "init", "test", "--secrets-provider", secretsProvider);
  const config = Object.entries(observed.config).flatMap(([key, value]) => [
    /apiKey|clientSecret|Url/.test(key) ? "--secret" : "--plaintext",
    `${key}=${value}`,
  ]);
  await pulumi("config", "set-all", ...config);
});
afterAll(async () => {
  await rm(directory, { recursive: true });
  await observed.close();
});

async function declare(resources: object, outputs: object = {}): Promise<void> {
  const providers = [{ name: "recommender", path: join(repository, "plugin") }];
  const program = { name: "test", runtime: "yaml", plugins: { providers }, resources, outputs };
  await writeFile(join(directory, "Pulumi.yaml"), stringify(program));
}

async function pulumi(...args: string[]): Promise<string> {
  const { stdout } = await run("pulumi", [...args, "--non-interactive"], {
    cwd: directory,
    env,
  }).catch((error) => Promise.reject(new Error(`${error.stdout}\n${error.stderr}`)));
  return stdout;
}

const up = (...args: string[]) => pulumi("up", "--yes", "--skip-preview", ...args);
const preview = async (...args: string[]) =>
  JSON.parse(await pulumi("preview", "--json", ...args)) as { steps: Step[] };
const rows = async (): Promise<Row[]> =>
  JSON.parse(await pulumi("stack", "export")).deployment.resources ?? [];

interface Step {
  readonly op: string;
  readonly urn: string;
  readonly detailedDiff?: Record<string, { kind: string }>;
}

/** Returns a reference to another resource in YAML. */
const ref = (path: string) => `\${${path}}`;

/** Makes the hidden properties in the state secret, so the engine shows them only to the plugin. */
const clicks = (properties: object) => ({
  clicks: {
    ...{ type: "recommender:EventDataset", properties },
    options: { additionalSecretOutputs: ["__made", "__service"] },
  },
});

testYaml(
  "a dataset is created, unchanged in the next run, replaced if its shards change, and destroyed",
  async () => {
    await declare(clicks({ numShards: 1 }), { id: ref("clicks.eventDatasetId") });
    await up();
    expect(await pulumi("preview", "--refresh", "--expect-no-changes")).toMatch(/2 unchanged/);
    await declare(clicks({ numShards: 2, attributeSchema: { age: "NUMERICAL" } }));
    const step = (await preview()).steps.find(({ urn }) => urn.endsWith("clicks"));
    expect(step?.op).toBe("replace");
    expect(step?.detailedDiff).toMatchObject({
      numShards: { kind: "update-replace" },
      attributeSchema: { kind: "add" },
    });
    await up();
    const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
    expect(eventDatasets).toEqual([expect.objectContaining({ numShards: 2 })]);
    await declare({});
    await up();
    expect((await observed.call(routes.listEventDatasets, {})).eventDatasets).toEqual([]);
  },
);

testYaml(
  "created objects are stored at the end of a run, so a forced replacement creates a new one",
  async () => {
    await declare(clicks({ numShards: 1 }));
    await up();
    const journal = await readdir(env.XDG_STATE_HOME as string, { recursive: true });
    expect(journal.filter((name) => name.endsWith(".json"))).toEqual([]);
    const [{ urn, id }] = (await rows()).filter(({ urn }) => urn.endsWith("::clicks")) as [Row];
    await up("--replace", urn);
    const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
    expect(eventDatasets).toHaveLength(1);
    expect(eventDatasets[0]?.eventDatasetId).not.toBe(id);
    await declare({});
    await up();
  },
);

testYaml("pulumi import takes a dataset over, after which the next preview is empty", async () => {
  const made = await observed.call(routes.createEventDataset, { name: "old", numShards: 3 });
  await declare({});
  const said = await pulumi(
    ...["import", "recommender:index:EventDataset", "old", made.eventDatasetId],
    ...["--yes", "--protect=false", "--generate-code=false"],
  );
  expect(said).toMatch(/1 imported/);
  expect(said).not.toMatch(/validat|start with __|begin with __/);
  await declare({ old: { type: "recommender:EventDataset", properties: { numShards: 3 } } });
  await pulumi("preview", "--expect-no-changes");
  await declare({});
  await up();
  expect((await observed.call(routes.listEventDatasets, {})).eventDatasets).toEqual([]);
});

testYaml(
  "a model, a deployment, a query and a clustering are one resource each, and secret addresses stay secret",
  async () => {
    const of = (type: string, properties: object) => ({ type: `recommender:${type}`, properties });
    const datasets = {
      users: of("UserDataset", { numShards: 1 }),
      items: of("ItemDataset", { numShards: 1 }),
      events: of("EventDataset", { numShards: 1 }),
    };
    await declare(datasets);
    await up();
    const idOf = async (name: string) =>
      (await rows()).find(({ urn }) => urn.endsWith(`::${name}`))?.id as string;
    await observed.load({
      users: await idOf("users"),
      items: await idOf("items"),
      events: await idOf("events"),
    });
    const about = { projectId: ref("shop.projectId"), modelId: ref("weekly.modelId") };
    const queries = [{ conditions: [{ attribute: "genre", value: "jazz", lowerBound: 0.1 }] }];
    const weekly = (trigger: number) => ({
      ...of("TrainedModel", {
        projectId: about.projectId,
        algorithmId: ref("g1.algorithmId"),
        triggers: [trigger],
      }),
      options: { ignoreChanges: ["triggers"], additionalSecretOutputs: ["modelId"] },
    });
    const whole = {
      ...datasets,
      shop: of("Project", {
        targetEventType: "purchase",
        userDatasetId: ref("users.userDatasetId"),
        itemDatasetId: ref("items.itemDatasetId"),
        eventDatasetId: ref("events.eventDatasetId"),
      }),
      g1: of("Algorithm", { projectId: about.projectId, algorithmParameters: { dimensions: 8, ...fixed } }),
      weekly: weekly(1),
      live: of("DeployedModel", { projectId: about.projectId, generatorModelId: about.modelId }),
      asked: of("UserQueryResult", { ...about, queryType: "user_list", queries }),
      groups: of("UserClusteringResult", { ...about, parameters: { minUserNum: 1 } }),
    };
    const outputs = {
      modelId: about.modelId,
      url: ref("groups.downloadUrl"),
      servingUri: ref("live.servingUri"),
    };
    await declare(whole, outputs);
    // Two for the component, and three for each of the four resources.
    expect((await preview()).steps.filter(({ op }) => op === "create")).toHaveLength(14);
    await up();
    await declare({ ...whole, weekly: weekly(2) }, outputs);
    await pulumi("preview", "--refresh", "--expect-no-changes");
    const model = (await rows()).find(({ type }) => type === "recommender:index:Model");
    expect(model?.urn).toContain("recommender:index:TrainedModel$recommender:index:Model::weekly");
    expect(JSON.parse(await pulumi("stack", "output", "--json"))).toEqual({
      modelId: "[secret]",
      url: "[secret]",
      servingUri: "[secret]",
    });
    expect(await pulumi("stack", "export")).not.toContain(new URL(observed.service.url).host);
  },
);

testYaml("pulumi import adopts a trained model, and the next preview has no changes", async () => {
  const found = async (type: string) =>
    (await rows()).find((row) => row.type === `recommender:index:${type}`)?.id as string;
  const [projectId, algorithmId] = [await found("Project"), await found("Algorithm")];
  const { jobId } = await observed.call(routes.submitTrainingJob, {
    projectId,
    algorithmId,
    name: "theirs",
  });
  await observed.service.idle();
  const modelId = (await observed.call(routes.getJob, { projectId, jobId })).jobResult?.modelId as string;
  const said = await pulumi(
    ...["import", "recommender:index:Model", "theirs", `${projectId}/${modelId}`],
    ...["--yes", "--protect=false", "--generate-code=false"],
  );
  expect(said).toMatch(/1 imported/);
  expect((await rows()).find(({ urn }) => urn.endsWith("Model::theirs"))?.id).toBe(modelId);
  await declare({
    theirs: { type: "recommender:Model", properties: { projectId, name: "theirs", existingId: modelId } },
  });
  const { steps } = await preview("--show-sames");
  expect(steps.find(({ urn }) => urn.endsWith("Model::theirs"))?.op).toBe("same");
});
