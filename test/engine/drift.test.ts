import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Finding, Report, StackReport } from "../../cli/drift/finding";
import { routes } from "../../contract";
import { formatOrigin, originHeader } from "../../contract/origin";
import { command, ended } from "../service/process";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const secrets = ["hush-hush-name", "hush-hush-note"];

const program = `import * as pulumi from "@pulumi/pulumi";
import * as recommender from "pulumi-recommender";

const users = new recommender.UserDataset("users", { numShards: 1 });
const items = new recommender.ItemDataset("items", { numShards: 1 });
const events = new recommender.EventDataset("events", {
  numShards: 2,
  name: "events",
});
const hushed = new recommender.EventDataset("hushed", { numShards: 1, name: pulumi.secret("hush-hush-name") });
// new recommender.EventDataset("spare", { numShards: 7 });
const spare = new recommender.EventDataset("spare", { numShards: 1 });

const records = Array.from({ length: 240 }, (_, at) => ({
  userId: "u" + (at % 30), itemId: "i" + ((at * 7) % 24), ts: 1700000000000 + at, eventType: "purchase",
}));
const userRecords = new recommender.UserRecords("users", {
  userDatasetId: users.id, source: Array.from({ length: 30 }, (_, at) => ({ userId: "u" + at })),
});
const itemRecords = new recommender.ItemRecords("items", {
  itemDatasetId: items.id, source: Array.from({ length: 24 }, (_, at) => ({ itemId: "i" + at })),
});
const eventRecords = new recommender.EventRecords("events", { eventDatasetId: events.id, source: records });

const datasets = { userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id };
function serving(name: string) {
  const project = new recommender.Project(name, { ...datasets, targetEventType: "purchase" });
  const algorithm = new recommender.Algorithm(name, {
    projectId: project.id, algorithmParameters: { dimensions: 4, epochs: 1, regularization: 0.1, alpha: 1 },
  }, { dependsOn: [userRecords, itemRecords, eventRecords] });
  const model = new recommender.Model(name, { projectId: project.id, algorithmId: algorithm.id });
  return { project, algorithm, model };
}
const shop = serving("shop");
const extra = new recommender.Model("extra", { projectId: shop.project.id, algorithmId: shop.algorithm.id });
const live = new recommender.Deployment("live", { projectId: shop.project.id, generatorModelId: shop.model.modelId, qps: 20, check: { userIds: ["u1"] } });
const side = serving("side");
const quiet = new recommender.Deployment("quiet", { projectId: side.project.id, generatorModelId: side.model.modelId, qps: 20, check: { userIds: ["u1"] } });

export const ids = {
  events: events.id, hushed: hushed.id, shop: shop.project.id, side: side.project.id, algorithm: shop.algorithm.id, extra: extra.id,
};
export const spareId = spare.id;
`;

type Ids = Record<"events" | "hushed" | "shop" | "side" | "algorithm" | "extra", string>;

describe("recommender drift, through the real engine", () => {
  let observed: ObservedService;
  let workspace: EngineWorkspace;
  let ids: Ids;
  let spareId: string;
  let found: StackReport;
  const reports = Object.fromEntries(
    ["txt", "md", "json", "sarif", "html"].map((end) => [end, `report.${end}`]),
  );

  beforeAll(async () => {
    observed = await ObservedService.start();
    workspace = await engineWorkspace(program, observed.environment, "typescript");
    // The commands that an installed package adds to the PATH.
    const bin = join(workspace.directory, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "recommender"), `#!/bin/sh\nexec '${process.execPath}' '${command}' "$@"\n`);
    chmodSync(join(bin, "recommender"), 0o755);
    await workspace.stack.setConfig("note", { value: secrets[1] as string, secret: true });
    const { outputs } = await workspace.stack.up();
    ids = outputs.ids?.value;
    spareId = outputs.spareId?.value;
    observed.calls();
  });
  afterAll(async () => {
    await workspace.dispose();
    await observed.close();
  });

  /** Runs a printed command in a shell in the directory of the project. */
  const shell = (line: string) => {
    const path = [join(workspace.directory, "bin"), process.env.PATH].join(delimiter);
    const env = { ...process.env, ...workspace.stack.workspace.envVars, PATH: path };
    const child = spawn("sh", ["-c", line], {
      cwd: workspace.directory,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return ended(child);
  };
  const fixed = async (line: string | undefined) => {
    // Nobody reads the preview first.
    const alone = line?.startsWith("pulumi") ? "--yes --skip-preview" : "--yes";
    const { code, out, err } = await shell(`${line} ${alone}`);
    if (code !== 0) throw new Error(`${line}\n${out}${err}`);
  };
  const state = async () => JSON.stringify((await workspace.stack.exportStack()).deployment);
  const writes = () => observed.calls().filter((call) => !/^GET |recommend-items-to-user$/.test(call));
  const titles = (findings: readonly Finding[]) =>
    findings
      .map(({ kind, resource, effect }) => `${resource.type} ${resource.name} ${kind}: ${effect}`)
      .sort();
  const finding = (type: string, name: string, among: readonly Finding[] = found.drift) =>
    among.find(({ resource }) => resource.type === type && resource.name === name) as Finding;

  test("a stack without drift exits with 0, and all of its resources are observed", async () => {
    const { code, out } = await shell("recommender drift --stack test --json");
    const [report] = (JSON.parse(out) as Report).stacks as [StackReport];
    expect({ code, ...report }).toMatchObject({
      code: 0,
      changes: [],
      drift: [],
      unmanaged: [],
      orphans: [],
      observed: report.resources,
    });
    const inPart = report.unobservable.map(({ resource, part }) => `${resource.type}: ${part}`);
    expect(inPart).toEqual(
      ["EventRecords", "ItemRecords", "UserRecords"].map((type) => `${type}: changes of single records`),
    );
    expect(writes()).toEqual([]);
  });

  test("drift of every kind is found and distinguished from changes of the program, and nothing is written", async () => {
    const { call } = { call: observed.call.bind(observed) };
    const renamed = { name: "drifted", attributeSchema: null };
    const attributeSchema = { place: "CATEGORICAL" as const };
    await call(routes.updateEventDataset, { eventDatasetId: ids.events, ...renamed, attributeSchema });
    await call(routes.updateEventDataset, { eventDatasetId: ids.hushed, ...renamed });
    await call(routes.deleteEventDataset, { eventDatasetId: spareId });
    await call(routes.deleteModel, { projectId: ids.shop, modelId: ids.extra });
    for (const projectId of [ids.shop, ids.side]) await call(routes.shutdownDeployment, { projectId });
    await call(routes.createEventDataset, { name: "by hand", numShards: 1 });
    await call(routes.createEventDataset, { name: "kept by hand", numShards: 3 });
    const left = await call(routes.createUserDataset, { name: "left behind", numShards: 1 });
    await call(routes.markOrphaned, { objectType: "USER_DATASET", objectId: left.userDatasetId });
    await call(routes.submitTrainingJob, {
      projectId: ids.shop,
      algorithmId: ids.algorithm,
      name: "by hand",
    });
    await observed.service.idle();
    observed.calls();
    const before = await state();

    await workspace.setProgram(program.replace("numShards: 2", "numShards: 4").replace("qps: 20", "qps: 30"));
    const outputs = Object.values(reports).map((file) => `--output ${file}`);
    const { code, out, err } = await shell(`recommender drift --stack test ${outputs.join(" ")}`);
    await workspace.setProgram(program);
    expect({ code, err }).toEqual({ code: 2, err: "" });
    expect(out).toMatch(/^test: 6 drifted, \d+ pending changes, 3 unmanaged, 1 orphaned \(/);
    expect(writes()).toEqual([]);
    expect(await state()).toBe(before);

    const read = (end: string) => readFileSync(join(workspace.directory, reports[end] as string), "utf8");
    [found] = (JSON.parse(read("json")) as Report).stacks as [StackReport];
    expect(titles(found.drift)).toEqual([
      "Deployment live not serving: redeploys",
      "Deployment quiet not serving: redeploys",
      "EventDataset events changed: in place",
      "EventDataset hushed changed: in place",
      "EventDataset spare deleted: loses data",
      "Model extra deleted: retrains",
    ]);
    // The program declares no schema, and the service had none.
    expect(finding("EventDataset", "events").properties).toEqual([
      { path: "attributeSchema", actual: attributeSchema },
      { path: "name", declared: "events", actual: "drifted" },
    ]);
    expect(finding("EventDataset", "hushed").properties).toEqual([
      { path: "name", declared: "[secret]", actual: "[secret]", secret: true },
    ]);
    expect(found.unmanaged.map(({ type, name }) => `${type} ${name}`).sort()).toEqual([
      "EventDataset by hand",
      "EventDataset kept by hand",
      "Model by hand",
    ]);
    const remove = `recommender orphans delete ${left.userDatasetId} --stack test`;
    expect(found.orphans).toMatchObject([
      { type: "UserDataset", name: "left behind", fixes: { apply: { command: remove } } },
    ]);
    for (const end of Object.keys(reports)) expect(read(end)).toContain("left behind");
    expect(finding("EventDataset", "events", found.changes)).toMatchObject({
      kind: "replaced",
      effect: "loses data",
      properties: [{ path: "numShards", declared: 4, actual: 2, replaces: true }],
    });
    expect(titles(found.changes)).toContain("Model shop replaced: retrains");
    const line = (text: string) => program.slice(0, program.indexOf(text)).split("\n").length;
    expect(finding("EventDataset", "events").location).toEqual({ file: "index.ts", line: 6, column: 16 });
    expect(finding("EventDataset", "spare").location?.line).toBe(
      line('const spare = new recommender.EventDataset("spare"'),
    );
    expect(finding("Model", "shop", found.changes).location?.line).toBe(line("const model = new"));

    for (const text of Object.keys(reports).map(read)) {
      for (const secret of [...secrets, observed.service.key]) expect(text).not.toContain(secret);
      expect(text).not.toMatch(/__provider|createRequire|__service/);
    }
  });

  test("after the fixes there is no drift: one half is reverted, the other half accepted", async () => {
    for (const [type, name] of [
      ["EventDataset", "hushed"],
      ["Model", "extra"],
      ["Deployment", "live"],
    ] as const) {
      await fixed(finding(type, name).fixes.apply.command);
    }
    for (const { name, fixes } of found.unmanaged) if (name === "by hand") await fixed(fixes.apply.command);

    for (const { fixes } of found.orphans) await fixed(fixes.apply.command);

    const events = finding("EventDataset", "events").fixes.accept;
    expect(events.edit).toBe(
      'declare attributeSchema: { "place": "CATEGORICAL" }, name: "drifted" in index.ts:6',
    );
    expect(finding("EventDataset", "spare").fixes.accept.edit).toMatch(
      /^remove EventDataset spare .* index\.ts:12$/,
    );
    const kept = found.unmanaged.find(({ name }) => name === "kept by hand")?.fixes.accept;
    const added = /^add (new .*)$/.exec(kept?.edit ?? "")?.[1];
    await workspace.setProgram(
      `${program
        .replace('name: "events"', 'name: "drifted", attributeSchema: {"place":"CATEGORICAL"}')
        .replace(/^(const|export const) (spare|spareId|quiet) .*$/gm, "")}\n${added};\n`,
    );
    await fixed(events.command);
    await fixed(finding("Deployment", "quiet").fixes.accept.command);
    await fixed(kept?.command);

    observed.calls();
    const { code, out } = await shell("recommender drift --stack test");
    expect({ code, verdict: out.split("\n")[0] }).toEqual({
      code: 0,
      verdict: expect.stringMatching(
        /^test: no drift seen, no pending changes \(\d+ of \d+ resources observed\)$/,
      ),
    });
    const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
    expect(eventDatasets.map(({ name }) => name).sort()).toEqual(
      ["drifted", secrets[0], "kept by hand"].sort(),
    );
    const { models } = await observed.call(routes.listModels, { projectId: ids.shop });
    expect(models.map(({ name }) => name).sort()).toEqual(["extra", "shop"]);
  });

  test("orphans delete --all with a stack keeps the orphans of other stacks", async () => {
    const orphanOf = async (stack: string) => {
      const { userDatasetId } = await observed.call(routes.createUserDataset, { name: stack, numShards: 1 });
      const orphan = { objectType: "USER_DATASET" as const, objectId: userDatasetId };
      const headers = { [originHeader]: formatOrigin({ project: "test", stack, resource: "users" }) };
      await observed.client.call(routes.markOrphaned, orphan, { headers });
      return userDatasetId;
    };
    const [own, other] = [await orphanOf("test"), await orphanOf("test-2")];
    const { out } = await shell("recommender orphans delete --all --stack test --yes --json");
    expect(JSON.parse(out)).toEqual({ deleted: [own] });
    const { orphans } = await observed.call(routes.listOrphans, {});
    expect(orphans.map(({ objectId }) => objectId)).toContain(other);
  });

  test("a failed comparison exits with 1 and the reason", async () => {
    const missing = await shell("recommender drift --stack nowhere --json");
    expect(missing).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^Stack nowhere does not exist\. Existing stacks: test\./),
    });
    await workspace.setProgram('throw new Error("the program is broken");');
    const broken = await shell("recommender drift");
    expect(broken).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/the program is broken/) });
  });
});
