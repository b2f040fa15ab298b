import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { parse, stringify } from "yaml";

/** Values for the resources that are added to the quick start. */
export interface Additions {
  /** Second service, as inputs of a provider. */
  readonly service: Readonly<Record<string, string>>;
  /** Id of an existing dataset. */
  readonly importId: string;
  /** Time limit of the additional training. */
  readonly timeout?: string;
}

/** Language of the quick start, with edits of its program. */
export interface Language {
  readonly program: string;
  /** Changes the number of shards of the events. */
  reshard(text: string): string;
  /** Adds a dataset with a record in a second service, an imported dataset, and a training after both. */
  extend(text: string, additions: Additions): string;
  /** Adds a misspelt argument, and a lookup with a wrong key. */
  misspell(text: string): string;
  ask(text: string, service: Readonly<Record<string, string>>): string;
}

/** Text of the program. */
const fewEvents = { userId: "ada", itemId: "lp-001", eventType: "view", ts: "2026-09-01T08:54:00Z" };

interface YamlProgram {
  readonly resources: Record<string, object>;
  readonly variables: Record<string, object>;
}

const editYaml = (text: string, edit: (program: YamlProgram) => void): string => {
  const program = parse(text);
  edit(program);
  return stringify(program);
};

/** Returns a reference to another resource in YAML. */
const ref = (path: string) => `\${${path}}`;

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns a provider in Python. Its keys are plain text on purpose. */
const pythonProvider = (name: string, service: Readonly<Record<string, string>>) => {
  const inputs = Object.entries(service).map(([key, value]) => `${snake(key)}=${JSON.stringify(value)}`);
  return `recommender.Provider("${name}", ${inputs.join(", ")})`;
};

export const languages: Readonly<Record<"yaml" | "python", Language>> = {
  yaml: {
    program: "Pulumi.yaml",
    reshard: (text) => text.replace(/(EventDataset\n\s+properties:\n\s+numShards): 1/, "$1: 2"),
    extend: (text, { service, importId, timeout }) =>
      editYaml(text, ({ resources }) => {
        const type = "recommender:EventDataset";
        resources.elsewhere = { type: "pulumi:providers:recommender", properties: service };
        resources.theirs = { type, properties: { numShards: 1 }, options: { provider: ref("elsewhere") } };
        resources.few = {
          type: "recommender:EventRecords",
          properties: { eventDatasetId: ref("theirs.id"), source: [fewEvents] },
          options: { provider: ref("elsewhere") },
        };
        resources.old = { type, properties: { numShards: 3 }, options: { import: importId } };
        resources.nightly = {
          type: "recommender:TrainedModel",
          properties: { projectId: ref("record-shop.id"), algorithmId: ref("g1.id") },
          options: {
            dependsOn: [ref("few"), ref("old"), ref("groups")],
            ...(timeout && { customTimeouts: { create: timeout } }),
          },
        };
      }),
    misspell: (text) => text.replace("lowerBound", "lowerBond"),
    ask: (text, service) =>
      editYaml(text, ({ resources, variables }) => {
        resources.wrong = { type: "pulumi:providers:recommender", properties: service };
        const asked = {
          function: "recommender:listEventDatasets",
          arguments: {},
          options: { provider: ref("wrong") },
        };
        variables.refused = { "fn::invoke": asked };
      }),
  },
  python: {
    program: "__main__.py",
    reshard: (text) => text.replace('EventDataset("events", num_shards=1', "$&0"),
    extend: (text, { service, importId, timeout }) => `${text}
elsewhere = ${pythonProvider("elsewhere", service)}
theirs = recommender.EventDataset("theirs", num_shards=1, opts=pulumi.ResourceOptions(provider=elsewhere))
few = recommender.EventRecords("few", event_dataset_id=theirs.id, source=[${JSON.stringify(fewEvents)}],
    opts=pulumi.ResourceOptions(provider=elsewhere))
old = recommender.EventDataset("old", num_shards=3, opts=pulumi.ResourceOptions(import_="${importId}"))
recommender.TrainedModel("nightly", project_id=project.id, algorithm_id=algorithm.id, opts=pulumi.ResourceOptions(
    depends_on=[few, old, groups],
    custom_timeouts=${timeout ? `pulumi.CustomTimeouts(create="${timeout}")` : "None"}))
`,
    misspell: (text) => text.replace("lower_bound", "lower_bond"),
    ask: (text, service) => `${text}
recommender.list_event_datasets_output(opts=pulumi.InvokeOptions(provider=${pythonProvider("wrong", service)}))
`,
  },
};

/** Interrupts an `up` with Ctrl+C when it waits for a training. Returns the time until its end, and its output. */
export async function interruptedUp(
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly afterMs: number; readonly output: string }> {
  const child: ChildProcess = spawn("pulumi", ["up", "--yes", "--skip-preview", "--non-interactive"], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (text) => {
      output += text;
    });
  const ended = once(child, "exit");
  while (!/training job-/.test(output)) {
    await Promise.race([once(child.stdout as NodeJS.ReadableStream, "data"), ended]);
    if (child.exitCode !== null) throw new Error(`it ended before it waited for a training:\n${output}`);
  }
  const began = performance.now();
  child.kill("SIGINT");
  await ended;
  return { afterMs: performance.now() - began, output };
}
