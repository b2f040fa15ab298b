import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { routes } from "../../contract";
import { provideHosts } from "../../tools/engine/provide.js";
import { ObservedService } from "./observed-service";

const run = promisify(execFile);
const repository = join(__dirname, "../..");

interface Row {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly outputs?: Record<string, unknown>;
}

let observed: ObservedService;
let other: ObservedService;
let directory: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  const { bin } = await provideHosts();
  [observed, other] = await Promise.all([
    ObservedService.start({ faults: true }),
    ObservedService.start({ faults: true }),
  ]);
  directory = await realpath(await mkdtemp(join(tmpdir(), "recommender-yaml-")));
  for (const name of ["home", "state"]) await mkdir(join(directory, name));
  env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    PULUMI_HOME: join(directory, "home"),
    PULUMI_BACKEND_URL: `file://${join(directory, "state")}`,
    PULUMI_CONFIG_PASSPHRASE: "test",
    PULUMI_SKIP_UPDATE_CHECK: "1",
  };
  await declare({});
  await pulumi("stack", "init", "test");
  for (const [key, value] of Object.entries(observed.config))
    await pulumi("config", "set", /apiKey|clientSecret/.test(key) ? "--secret" : "--plaintext", key, value);
});
afterAll(async () => {
  await rm(directory, { recursive: true });
  await Promise.all([observed.close(), other.close()]);
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
const preview = async () => JSON.parse(await pulumi("preview", "--json")) as { steps: Step[] };
const rows = async (): Promise<Row[]> =>
  JSON.parse(await pulumi("stack", "export")).deployment.resources ?? [];

interface Step {
  readonly op: string;
  readonly urn: string;
  readonly detailedDiff?: Record<string, { kind: string }>;
}

/** A value of another resource, as YAML writes it. */
const ref = (path: string) => `\${${path}}`;

const clicks = (properties: object) => ({ clicks: { type: "recommender:EventDataset", properties } });

test("a dataset is created, unchanged by the next run, replaced for another number of shards, and destroyed", async () => {
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
});

test("pulumi import takes a dataset over, after which the next preview is empty", async () => {
  const made = await observed.call(routes.createEventDataset, { name: "old", numShards: 3 });
  await declare({});
  const said = await pulumi(
    ...["import", "recommender:index:EventDataset", "old", made.eventDatasetId],
    ...["--yes", "--protect=false", "--generate-code=false"],
  );
  expect(said).toMatch(/1 imported/);
  await declare({ old: { type: "recommender:EventDataset", properties: { numShards: 3 } } });
  await pulumi("preview", "--expect-no-changes");
  await declare({});
  await up();
  expect((await observed.call(routes.listEventDatasets, {})).eventDatasets).toEqual([]);
});

test("one program speaks to two services, and the keys of neither are in the state in the clear", async () => {
  const inputs = Object.entries(other.config).map(([key, value]) => [key.replace("recommender:", ""), value]);
  await declare({
    elsewhere: { type: "pulumi:providers:recommender", properties: Object.fromEntries(inputs) },
    ...clicks({ numShards: 1 }),
    theirs: {
      type: "recommender:EventDataset",
      properties: { numShards: 1 },
      options: { provider: ref("elsewhere") },
    },
  });
  await up();
  await pulumi("preview", "--refresh", "--expect-no-changes");
  const named = async (service: ObservedService) =>
    (await service.call(routes.listEventDatasets, {})).eventDatasets.map(({ name }) => name);
  expect([await named(observed), await named(other)]).toEqual([["clicks"], ["theirs"]]);
  for (const file of await readdir(join(directory, "state"), { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const text = await readFile(join(file.parentPath ?? file.path, file.name), "utf8");
    for (const service of [observed, other]) expect(text).not.toContain(service.service.key);
  }
  await declare({});
  await up();
});

describe("a pipeline with a component", () => {
  const of = (type: string, properties: object, options = {}) => ({
    type: `recommender:${type}`,
    properties,
    options,
  });
  const pipeline = (training: object = {}, options: object = {}) => ({
    users: of("UserDataset", { numShards: 1 }),
    items: of("ItemDataset", { numShards: 1 }),
    events: of("EventDataset", { numShards: 1 }),
    shop: of("Project", {
      targetEventType: "purchase",
      userDatasetId: ref("users.userDatasetId"),
      itemDatasetId: ref("items.itemDatasetId"),
      eventDatasetId: ref("events.eventDatasetId"),
    }),
    g1: of("Algorithm", { projectId: ref("shop.projectId"), algorithmParameters: { dimensions: 8 } }),
    ...training,
    ...options,
  });
  const weekly = (options: object = {}) => ({
    weekly: of(
      "TrainedModel",
      { projectId: ref("shop.projectId"), algorithmId: ref("g1.algorithmId") },
      options,
    ),
  });

  test("TrainedModel trains and waits in one line; a stop during the wait keeps the job, which the next run resumes", async () => {
    await declare(pipeline());
    await up();
    const ids = Object.fromEntries(
      (await rows()).map(({ urn, id }) => [urn.split("::").at(-1), id as string]),
    );
    await observed.load({
      users: ids.users as string,
      items: ids.items as string,
      events: ids.events as string,
    });
    await observed.faults({ job_delay_ms: 20_000 });
    await declare(pipeline(weekly()), { modelId: ref("weekly.modelId") });
    expect((await preview()).steps.filter(({ op }) => op === "create")).toHaveLength(3);
    const stopped = await interruptedUp();
    // After 5 s the engine would have killed the plugin.
    expect(stopped.afterMs).toBeLessThan(5_000);
    expect((await rows()).filter(({ type }) => type.endsWith(":TrainingJob"))).toHaveLength(1);
    await observed.faults({});
    observed.calls();
    await up();
    expect(observed.calls().join()).not.toContain("submit-training-job");
    await pulumi("preview", "--expect-no-changes");
    const model = (await rows()).find(({ type }) => type === "recommender:index:Model");
    expect(model?.urn).toContain("recommender:index:TrainedModel$recommender:index:Model::weekly");
    expect(await pulumi("stack", "output", "modelId")).toContain(model?.id as string);
  });

  test("a deployment, a query and a clustering are one line each too, and the address of a result is secret", async () => {
    const about = { projectId: ref("shop.projectId"), modelId: ref("weekly.modelId") };
    const queries = [{ conditions: [{ attribute: "genre", value: "jazz", lowerBound: 0.1 }] }];
    const whole = pipeline({
      ...weekly(),
      live: of("DeployedModel", { projectId: about.projectId, generatorModelId: about.modelId }),
      asked: of("UserQueryResult", { ...about, queryType: "user_list", queries }),
      groups: of("UserClusteringResult", { ...about, parameters: { minUserNum: 1 } }),
    });
    await declare(whole, { url: ref("groups.downloadUrl"), servingUri: ref("live.servingUri") });
    const { steps } = await preview();
    expect(steps.filter(({ op }) => op === "create")).toHaveLength(9);
    await up();
    await pulumi("preview", "--refresh", "--expect-no-changes");
    const outputs = JSON.parse(await pulumi("stack", "output", "--json"));
    expect(outputs).toEqual({ url: "[secret]", servingUri: expect.stringContaining(observed.service.url) });
  });

  test("customTimeouts of the component limit the wait", async () => {
    await observed.faults({ job_delay_ms: 20_000 });
    const options = { customTimeouts: { create: "1s" } };
    await declare(pipeline({ daily: { ...weekly(options).weekly } }));
    await expect(up()).rejects.toThrow(/is still \w+ after 1 second/);
    await observed.faults({});
    await pulumi("destroy", "--yes", "--skip-preview");
  });
});

/** Stops an `up` with Ctrl+C as soon as it waits for a training. */
async function interruptedUp(): Promise<{ afterMs: number }> {
  const child: ChildProcess = spawn("pulumi", ["up", "--yes", "--skip-preview", "--non-interactive"], {
    cwd: directory,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout?.on("data", (text) => {
    output += text;
  });
  while (!output.includes("training job-")) await once(child.stdout as NodeJS.ReadableStream, "data");
  const began = performance.now();
  child.kill("SIGINT");
  await once(child, "exit");
  return { afterMs: performance.now() - began };
}
