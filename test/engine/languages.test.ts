import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { EngineEvent, StepEventMetadata } from "@pulumi/pulumi/automation";
import { routes } from "../../contract";
import { provideHosts } from "../../tools/engine/provide.js";
import { generateSdks } from "../../tools/sdk/generate.js";
import { installWheel, python, testUnless, withoutGo } from "../tools/sdk";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, exampleWorkspace } from "./workspace";

const { bin: pythonBin, missing } = withoutGo ? { bin: "", missing: withoutGo } : python();

/** Builds hosts and generators where no earlier run has; that takes minutes. */
const setUpMs = 1_200_000;

let hosts: string;
let site: string;
beforeAll(async () => {
  site = await mkdtemp(join(tmpdir(), "recommender-python-"));
  if (withoutGo) return;
  hosts = (await provideHosts()).bin;
  if (missing) return;
  await generateSdks(site, ["python"]);
  installWheel(pythonBin, join(site, "python"), join(site, "installed"));
}, setUpMs);
afterAll(() => rm(site, { recursive: true, force: true }));

const languages = {
  yaml: {
    missing: withoutGo,
    program: "Pulumi.yaml",
    edit: (text: string) => text.replace(/(EventDataset\n\s+properties:\n\s+numShards): 1/, "$1: 2"),
  },
  python: {
    missing,
    program: "__main__.py",
    edit: (text: string) => text.replace(/EventDataset\("events", num_shards=1/, "$&0"),
  },
};

describe.each(Object.entries(languages))("the quick start in %s", (language, { missing, program, edit }) => {
  const run = testUnless(missing);
  let observed: ObservedService;
  let workspace: EngineWorkspace;
  let folder: string;
  beforeAll(async () => {
    if (missing) return;
    observed = await ObservedService.start();
    workspace = await exampleWorkspace(language, {
      ...observed.environment,
      PATH: [pythonBin, hosts, process.env.PATH].filter(Boolean).join(delimiter),
      PYTHONPATH: join(site, "installed"),
    });
    folder = join(workspace.directory, "examples", language);
    const project = join(folder, "Pulumi.yaml");
    const plugins = { providers: [{ name: "recommender", path: join(__dirname, "../../plugin") }] };
    await writeFile(project, `${await readFile(project, "utf8")}plugins: ${JSON.stringify(plugins)}\n`);
  });
  afterAll(async () => {
    await workspace?.dispose();
    await observed?.close();
  });
  const writes = () =>
    observed.calls().filter((call) => !call.startsWith("GET") && !call.includes("/recommend-items-to-user"));

  run("comes up, with one job for each thing that it declares", async () => {
    const { outputs, summary } = await workspace.stack.up();
    expect(summary.resourceChanges).toEqual({ create: 21 });
    expect(writes().filter((call) => call.includes("/submit-"))).toHaveLength(4);
    expect(outputs.forAda?.value).toHaveLength(3);
    expect(outputs.quality?.value).toBeTruthy();
    expect([outputs.jazzLoversUrl?.secret, outputs.groupsUrl?.secret]).toEqual([true, true]);
    const state = JSON.stringify(await workspace.stack.exportStack());
    expect(state).not.toContain(outputs.jazzLoversUrl?.value);
    expect(state).not.toContain(observed.service.key);
  });

  run("up again changes nothing and writes nothing", async () => {
    const { summary } = await workspace.stack.up();
    expect(summary.resourceChanges).toEqual({ same: 21 });
    expect(writes()).toEqual([]);
  });

  run("another number of shards replaces the dataset, and the preview names that argument", async () => {
    const file = join(folder, program);
    const text = await readFile(file, "utf8");
    expect(edit(text)).not.toBe(text);
    await writeFile(file, edit(text));
    const steps: StepEventMetadata[] = [];
    await workspace.stack.preview({ onEvent: (event) => steps.push(...stepsOf(event)) });
    const dataset = steps.find(
      ({ type, op }) => type === "recommender:index:EventDataset" && op === "replace",
    );
    expect(dataset?.detailedDiff).toEqual({ numShards: { diffKind: "update-replace", inputDiff: false } });
  });

  run("is destroyed with all that the API can delete", async () => {
    const { summary } = await workspace.stack.destroy();
    expect(summary.resourceChanges).toEqual({ delete: 21 });
    expect((await observed.call(routes.listEventDatasets, {})).eventDatasets).toEqual([]);
  });
});

function stepsOf({ resourcePreEvent }: EngineEvent): StepEventMetadata[] {
  return resourcePreEvent ? [resourcePreEvent.metadata] : [];
}
