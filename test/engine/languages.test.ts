import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { EngineEvent, StepEventMetadata } from "@pulumi/pulumi/automation";
import { compareStack } from "../../cli/drift/compare";
import { OpenStack } from "../../cli/stack/open";
import { invocation } from "../../console/parts/code";
import { routes } from "../../contract";
import { provideHosts } from "../../tools/engine/provide.js";
import { generateSdks } from "../../tools/sdk/generate.js";
import { compileMs, installWheel, python, withoutGo } from "../tools/sdk";
import { testUnless } from "../unless";
import { asked, consoleText, resources, spokenTo } from "./console-texts";
import { interruptedUp, type Language, languages } from "./languages";
import { ObservedService, withoutUploadChecks } from "./observed-service";
import { type EngineWorkspace, exampleWorkspace } from "./workspace";

const { bin: pythonBin, missing: withoutPython } = withoutGo ? { bin: "", missing: withoutGo } : python();

/** Time limit for the first build of language hosts and generators, which takes minutes. */
const setUpMs = 1_200_000;

let hosts: string;
let site: string;
beforeAll(async () => {
  site = await mkdtemp(join(tmpdir(), "recommender-python-"));
  if (withoutGo) return;
  hosts = (await provideHosts()).bin;
  if (withoutPython) return;
  await generateSdks(site, ["python"]);
  installWheel(pythonBin, join(site, "python"), join(site, "installed"));
}, setUpMs);
afterAll(() => rm(site, { recursive: true, force: true }));

describe.each(Object.entries(languages) as [string, Language][])(
  "the quick start in %s",
  (name, { program, ...edit }) => {
    const missing = name === "python" ? withoutPython : withoutGo;
    const run = testUnless(missing, compileMs);
    let observed: ObservedService;
    let other: ObservedService;
    let workspace: EngineWorkspace;
    let directory: string;
    let text: string;
    const keys: string[] = [];
    let said = "";
    const onOutput = (out: string) => {
      said += out;
    };
    beforeAll(async () => {
      if (missing) return;
      [observed, other] = await Promise.all([
        ObservedService.start({ faults: true }),
        ObservedService.start(),
      ]);
      keys.push(observed.service.key, other.service.key);
      workspace = await exampleWorkspace(name, {
        PATH: [pythonBin, hosts, process.env.PATH].filter(Boolean).join(delimiter),
        PYTHONPATH: join(site, "installed"),
      });
      const config = Object.entries(observed.config).map(([key, value]) => {
        return [key, { value, secret: /Key|Secret/.test(key) }] as const;
      });
      await workspace.stack.setAllConfig(Object.fromEntries(config));
      directory = join(workspace.directory, "examples", name);
      const project = join(directory, "Pulumi.yaml");
      const plugins = { providers: [{ name: "recommender", path: join(__dirname, "../../plugin") }] };
      await writeFile(project, `${await readFile(project, "utf8")}plugins: ${JSON.stringify(plugins)}\n`);
      text = await readFile(join(directory, program), "utf8");
    });
    afterAll(async () => {
      await workspace?.dispose();
      await Promise.all([observed?.close(), other?.close()]);
    });
    const setProgram = (changed: string) => {
      expect(changed).not.toBe(text);
      return writeFile(join(directory, program), changed);
    };
    /** Returns the calls, without the lookups of the program. */
    const calls = () => observed.calls().filter((call) => !call.includes("/recommend-items-to-user"));
    const trainings = (among: string[]) => among.filter((call) => call.includes("/submit-training-job"));
    const datasets = async (of: ObservedService) =>
      (await of.call(routes.listEventDatasets, {})).eventDatasets;
    const serviceOf = ({ config }: ObservedService) =>
      Object.fromEntries(
        Object.entries(config).map(([key, value]) => [key.replace("recommender:", ""), value]),
      );
    const rows = async () => {
      const { deployment } = await workspace.stack.exportStack();
      const { resources } = deployment as { resources: { urn: string; type: string; id?: string }[] };
      return (type: string, logicalName: string) =>
        resources.find(({ urn }) => urn.endsWith(`recommender:index:${type}::${logicalName}`));
    };

    run("comes up, with one job for each thing that it declares", async () => {
      const { outputs, summary } = await workspace.stack.up({ onOutput });
      expect(summary.resourceChanges).toEqual({ create: 21 });
      expect(calls().filter((call) => call.includes("/submit-"))).toHaveLength(4);
      expect(outputs.forAda?.value).toHaveLength(3);
      expect(outputs.quality?.value).toBeTruthy();
      expect([outputs.jazzLoversUrl?.secret, outputs.groupsUrl?.secret]).toEqual([true, true]);
      keys.push(outputs.jazzLoversUrl?.value);
    });

    run("up again changes nothing and only looks for unfinished uploads", async () => {
      const { summary } = await workspace.stack.up({ onOutput });
      expect(summary.resourceChanges).toEqual({ same: 21 });
      expect(withoutUploadChecks(calls())).toEqual([]);
    });

    run("another number of shards replaces the dataset, and the preview names that argument", async () => {
      await setProgram(edit.reshard(text));
      const steps: StepEventMetadata[] = [];
      await workspace.stack.preview({ onOutput, onEvent: (event) => steps.push(...stepsOf(event)) });
      await writeFile(join(directory, program), text);
      const dataset = steps.find(
        ({ type, op }) => type === "recommender:index:EventDataset" && op === "replace",
      );
      expect(dataset?.detailedDiff).toEqual({ numShards: { diffKind: "update-replace", inputDiff: false } });
    });

    run("drift is found with its line, and its command reverts it", async () => {
      const [{ eventDatasetId }] = await datasets(observed);
      const renamed = { eventDatasetId, name: "by hand", attributeSchema: null };
      await observed.call(routes.updateEventDataset, renamed);
      const env = workspace.stack.workspace.envVars;
      const open = await OpenStack.open({ cwd: directory, stack: workspace.stack.name, env });
      const { drift, changes, unmanaged } = await compareStack(open);
      expect([changes, unmanaged]).toEqual([[], []]);
      const line = text.split("\n").findIndex((one) => /^ {2}events:|EventDataset\("events"/.test(one)) + 1;
      expect(drift).toMatchObject([
        {
          kind: "changed",
          resource: { type: "EventDataset", name: "events" },
          properties: [{ path: "name", declared: "events", actual: "by hand" }],
          location: { file: program, line },
        },
      ]);
      const target = /--target '(.*)'/.exec(drift[0]?.fixes.apply.command ?? "")?.[1] as string;
      const { summary } = await workspace.stack.up({ refresh: true, target: [target], onOutput });
      expect(summary.resourceChanges).toMatchObject({ update: 1 });
      expect(await datasets(observed)).toMatchObject([{ name: "events" }]);
    });

    run(
      "a misspelt argument and a rejected key fail the preview, with a clear message and without the key",
      async () => {
        await setProgram(edit.misspell(text));
        await expect(workspace.stack.preview({ onOutput })).rejects.toThrow(/lower.?bond[\s\S]*lowerBound/i);
        const wrong = { ...serviceOf(observed), apiKey: "a-key-that-was-revoked" };
        keys.push(wrong.apiKey);
        await setProgram(edit.ask(text, wrong));
        const refusal = workspace.stack.preview({ onOutput }).catch((error: Error) => error.message);
        onOutput((await refusal) as string);
        expect(await refusal).toMatch(/401|403/);
      },
    );

    run(
      "a dataset is imported, an explicit provider uses another service, and customTimeouts limit a training",
      async () => {
        const made = await observed.call(routes.createEventDataset, { name: "old", numShards: 3 });
        await observed.holdJobs();
        const additions = { service: serviceOf(other), importId: made.eventDatasetId };
        await setProgram(edit.extend(text, { ...additions, timeout: "1s" }));
        observed.calls();
        const failed = await workspace.stack.up({ onOutput }).catch((error: Error) => error.message);
        onOutput(failed as string);
        expect(failed).toMatch(/is still \w+ after 1 second/);
        const called = calls();
        expect(called.filter((call) => call.includes("create-"))).toEqual([]);
        expect(trainings(called)).toHaveLength(1);
        const row = await rows();
        expect(row("EventDataset", "old")?.id).toBe(made.eventDatasetId);
        expect(await datasets(other)).toMatchObject([{ name: "theirs" }]);
        expect(other.calls().filter((call) => call.includes("/upsert-dataset-events"))).toHaveLength(1);
        await setProgram(edit.extend(text, additions));
      },
    );

    run("Ctrl+C ends the run while the training goes on; the next run resumes the job", async () => {
      const env = { ...process.env, ...workspace.stack.workspace.envVars };
      const { afterMs, output } = await interruptedUp(directory, env);
      onOutput(output);
      process.stdout.write(`${name}: ended ${Math.round(afterMs)} ms after Ctrl+C\n`);
      const row = await rows();
      const { id: jobId = "" } = row("TrainingJob", "nightly") ?? {};
      expect(output).toContain(jobId);
      expect(row("Model", "nightly")).toBeUndefined();
      await observed.faults({});
      await observed.releaseJobs();
      const { summary } = await workspace.stack.up({ onOutput });
      expect(summary.resourceChanges).toEqual({ same: 27, create: 1 });
      expect(trainings(calls())).toEqual([]);
      const projectId = (await rows())("Project", "record-shop")?.id as string;
      const { jobResult } = await observed.call(routes.getJob, { projectId, jobId });
      expect((await rows())("Model", "nightly")?.id).toBe(jobResult?.modelId);
    });

    run("is destroyed with all that the API can delete, at both services", async () => {
      await workspace.stack.destroy({ onOutput });
      expect([await datasets(observed), await datasets(other)]).toEqual([[], []]);
    });

    run("no key of a service and no address of a result is in the state or in what was said", async () => {
      expect(said).toContain("record-shop");
      const files = await readdir(join(workspace.directory, "state"), {
        recursive: true,
        withFileTypes: true,
      });
      const texts = await Promise.all(
        files
          .filter((file) => file.isFile())
          .map((file) => readFile(join(file.parentPath ?? file.path, file.name), "utf8")),
      );
      // The history has the state after each run.
      expect(
        texts.filter((state) => state.includes("recommender:index:TrainedModel")).length,
      ).toBeGreaterThan(5);
      for (const key of keys) expect([said, ...texts].filter((one) => one.includes(key))).toEqual([]);
    });
  },
);

testUnless(withoutPython, compileMs)("Python code from the console declares the same resources", async () => {
  await writeFile(join(site, "console.py"), `${consoleText}\n`);
  await writeFile(join(site, "said.py"), spokenTo);
  const env = { ...process.env, PYTHONPATH: join(site, "installed") };
  const { stdout } = await promisify(execFile)(join(pythonBin, "python"), ["said.py"], { cwd: site, env });
  const said = JSON.parse(stdout) as object[];
  // The second resource with the same name has a number.
  const names = resources.map(({ name }, at) => (at === 1 || at === 4 ? `${name} 2` : name));
  const all = [
    ...resources.map(({ type, component = type, fields }, at) => ({
      ...{ type: `recommender:index:${component}`, name: names[at] },
      inputs: expect.objectContaining(fields),
    })),
    { token: "recommender:index:recommend", args: asked },
    { token: "recommender:index:listEventDatasets", args: {} },
  ];
  expect(said).toHaveLength(all.length);
  expect(said).toEqual(expect.arrayContaining(all));
});

testUnless(withoutGo, compileMs)("YAML code from the console declares the same resources", async () => {
  const texts = { of: asked.userId, more: "$${y} $$ $5 $", maps: [{ "${z}": "$$" }] };
  const workspace = await exampleWorkspace("yaml", { PATH: [hosts, process.env.PATH].join(delimiter) });
  // The text is compared as written, because the parser's writer may escape less.
  const [, said] = invocation("said", "recommend", texts).YAML?.split("arguments:") ?? [];
  const program = `name: record-shop-yaml\nruntime: yaml\noutputs:\n  said:${said}\n`;
  await writeFile(join(workspace.directory, "examples/yaml/Pulumi.yaml"), program);
  const up = await workspace.stack.up();
  expect(up.outputs.said?.value).toEqual(texts);
  await workspace.dispose();
});

function stepsOf({ resourcePreEvent }: EngineEvent): StepEventMetadata[] {
  return resourcePreEvent ? [resourcePreEvent.metadata] : [];
}
