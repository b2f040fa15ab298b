import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { command } from "../service/process";
import { type ReceivedSpan, Receiver, spansIn, treeOf } from "../telemetry/receiver";
import { type EngineWorkspace, engineWorkspace, installPlugin } from "./workspace";

const run = promisify(execFile);

const program = `
const recommender = require("pulumi-recommender");
const users = new recommender.UserDataset("users", { numShards: 1 });
const items = new recommender.ItemDataset("items", { numShards: 1 });
const events = new recommender.EventDataset("events", { numShards: 1 });
const history = new recommender.EventRecords("history", { eventDatasetId: events.id, source: "events.csv" });
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "purchase",
});
const algorithm = new recommender.Algorithm("g1", { projectId: project.id, algorithmParameters: { dimensions: 8 } });
const model = new recommender.Model("weekly", {
  projectId: project.id, algorithmId: algorithm.id, triggers: [history.contentHash],
});
new recommender.Deployment("live", {
  projectId: project.id, generatorModelId: model.modelId, qps: 100, check: { userIds: ["visitor-1"] },
});
`;

let workspace: EngineWorkspace;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await Receiver.start();
  workspace = await engineWorkspace(program);
  await installPlugin(workspace.directory);
  const rows = Array.from({ length: 240 }, (_, at) => {
    const [u, k] = [at % 30, Math.floor(at / 30)];
    return `visitor-${u},i${(u % 2) + 2 * ((u * 5 + k) % 12)},2026-01-0${k + 1},purchase`;
  });
  await writeFile(
    join(workspace.directory, "events.csv"),
    `userId,itemId,ts,eventType\n${rows.join("\n")}\n`,
  );
});
afterAll(async () => {
  await stopService();
  await workspace.dispose();
  await receiver.close();
});

const environment = () => ({
  ...process.env,
  ...workspace.stack.workspace.envVars,
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  RECOMMENDER_JOB_POLL_MS: "50",
});

const pulumi = (args: readonly string[], env: Record<string, string>) =>
  run("pulumi", ["--non-interactive", ...args], {
    cwd: workspace.directory,
    env: { ...environment(), ...env },
    maxBuffer: 2 ** 26,
  }).catch((error) => Promise.reject(new Error(`${error.stdout}\n${error.stderr}`)));

/** Stops the embedded service, which sends its last spans before it ends. */
const stopService = () =>
  run(process.execPath, [command, "stop"], { cwd: workspace.directory, env: environment() });

/** Returns the span with a name, and fails if there is not exactly one. */
function only(spans: readonly ReceivedSpan[], name: string, service: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name && span.service === service);
  expect([name, found.length]).toEqual([name, 1]);
  return found[0] as ReceivedSpan;
}

/** Returns the names of the spans above a span, from its parent up. */
function above(spans: readonly ReceivedSpan[], span: ReceivedSpan): string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return parent ? [`${parent.service}: ${parent.name}`, ...above(spans, parent)] : [];
}

test("one `pulumi up` is one trace: from the engine through the plugin to the service, its jobs and their phases", async () => {
  const file = join(workspace.directory, "engine-traces.json");
  await pulumi(["up", "--yes", "--skip-preview", `--otel-traces=file://${file}`], {
    RECOMMENDER_BINDING: "plugin",
  });
  await stopService();
  const engine = (await readFile(file, "utf8")).split("\n").filter(Boolean).flatMap(spansIn);
  const spans = [...engine, ...receiver.spans];
  const own = [...receiver.spans];
  process.env.RECOMMENDER_SHOW_TRACE && console.log(treeOf(spans));

  const call = only(own, "POST /submit-training-job", "recommender-service");
  expect(above(spans, call)).toEqual([
    "pulumi-recommender: POST /submit-training-job",
    "pulumi-recommender: create TrainingJob",
    ...above(spans, only(own, "create TrainingJob", "pulumi-recommender")),
  ]);
  const training = only(own, "job TRAINING", "recommender-service");
  expect(training.parentSpanId).toBe(call.spanId);
  const phases = own
    .filter(({ parentSpanId }) => parentSpanId === training.spanId)
    .sort((a, b) => Number(a.startNs - b.startNs));
  expect(phases.map(({ name }) => name)).toEqual(
    ["read", "search", "train", "attributes", "save", "commit"].map((phase) => `phase ${phase}`),
  );
  for (const phase of phases) {
    expect(phase.startNs).toBeGreaterThanOrEqual(training.startNs);
    expect(phase.endNs).toBeLessThanOrEqual(training.endNs);
  }
  const deployment = only(own, "job DEPLOYMENT", "recommender-service");
  expect(above(spans, deployment).slice(0, 3)).toEqual([
    "recommender-service: POST /submit-deployment-job",
    "pulumi-recommender: POST /submit-deployment-job",
    "pulumi-recommender: create DeploymentJob",
  ]);
  // The engine's own call of the plugin is the parent of each step.
  const root = only(engine, "pulumi", "pulumi-cli");
  for (const span of own.filter(
    ({ service, name }) => service === "pulumi-recommender" && /^create /.test(name),
  )) {
    expect(above(spans, span).at(-1)).toBe("pulumi-cli: pulumi");
    expect(span.traceId).toBe(root.traceId);
  }
  expect(own.filter(({ failed }) => failed)).toEqual([]);
});

test("spans contain no key, no token and no user id", async () => {
  const key = (await readFile(join(workspace.directory, ".recommender/key"), "utf8")).trim();
  const sent = receiver.texts.join("\n");
  expect(sent).toContain("recommendItemsToUser");
  expect(sent).not.toContain(key);
  expect(sent).not.toMatch(/visitor-|bearer|eyJ/i);
});

test("dynamic resources continue the trace in TRACEPARENT", async () => {
  receiver.spans.splice(0);
  await workspace.setProgram(program.split("\n").slice(0, 3).join("\n"));
  await pulumi(["stack", "init", "dynamic", "--secrets-provider", "hashivault://tests"], {});
  const traces = `--otel-traces=file://${join(workspace.directory, "dynamic-traces.json")}`;
  await pulumi(["up", "--yes", "--skip-preview", "--stack", "dynamic", traces], {
    RECOMMENDER_BINDING: "dynamic",
    TRACEPARENT: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
  });
  await stopService();
  const created = only(receiver.spans, "create UserDataset", "pulumi-recommender");
  expect(created).toMatchObject({ traceId: "a".repeat(32), parentSpanId: "b".repeat(16) });
  const call = only(receiver.spans, "POST /create-user-dataset", "recommender-service");
  expect(above(receiver.spans, call)).toEqual([
    "pulumi-recommender: POST /create-user-dataset",
    "pulumi-recommender: create UserDataset",
  ]);
});
