import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fixed } from "../faults/program";
import { ObservedService, withoutUploadChecks } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const program = (users: string, eventShards = 10) => `
import * as pulumi from "@pulumi/pulumi";
import * as recommender from "pulumi-recommender";
const users = new recommender.UserDataset("users", { numShards: 1 });
const items = new recommender.ItemDataset("items", { numShards: 1 });
const events = new recommender.EventDataset("events", { numShards: ${eventShards} });
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "buy",
});
const algorithm = new recommender.Algorithm("g1", { projectId: project.id, algorithmParameters: ${JSON.stringify({ dimensions: 4, ...fixed })} });
const people = new recommender.UserRecords("people", { userDatasetId: users.id, source: ${users} });
const goods = new recommender.ItemRecords("goods", { itemDatasetId: items.id, source: new pulumi.asset.FileAsset("goods.csv"), numShards: items.numShards });
const acts = new recommender.EventRecords("acts", { eventDatasetId: events.id, source: "acts/*.ndjson" });
const model = new recommender.Model("m", {
  projectId: project.id, algorithmId: algorithm.id, triggers: [people.contentHash, goods.contentHash, acts.contentHash],
});
export const eventDatasetId = events.id;
export const counts = [people.recordCount, goods.recordCount, acts.recordCount];
export const hash = acts.contentHash;
export const modelId = model.modelId;
`;

const twoUsers = `[{ userId: "u0", attributes: { diary: "dear secret" } }, { userId: "u1" }]`;

function acts(from: number, to: number): string {
  const lines = Array.from({ length: to - from }, (_, at) => {
    const n = from + at;
    return JSON.stringify({
      user_id: `u${n % 40}`,
      item_id: `i${(n * 7) % 24}`,
      ts: 1_700_000_000 + n,
      event_type: "buy",
    });
  });
  return `${lines.join("\n")}\n`;
}

describe("records through the real engine", () => {
  let observed: ObservedService;
  let workspace: EngineWorkspace;
  const file = (name: string) => join(workspace.directory, name);

  beforeAll(async () => {
    observed = await ObservedService.start();
    workspace = await engineWorkspace(program(twoUsers), observed.environment);
    workspace.stack.workspace.envVars.XDG_STATE_HOME = file("local-state");
    await mkdir(file("acts"));
    await writeFile(file("acts/1.ndjson"), acts(0, 1500));
    await writeFile(
      file("goods.csv"),
      Array.from({ length: 24 }, (_, at) => `i${at},${at % 2 ? "jazz" : "folk"}\n`)
        .join("")
        .replace(/^/, "item_id,genre\n"),
    );
  });
  afterAll(async () => {
    await workspace.dispose();
    await observed.close();
  });

  const up = async () => {
    observed.calls();
    const { outputs, summary } = await workspace.stack.up();
    return { outputs, changes: summary.resourceChanges, calls: observed.calls() };
  };
  const upserts = (calls: string[]) => calls.filter((call) => call.includes("upsert"));
  const recordCount = async (id: string) => {
    const headers = { apikey: observed.service.key };
    const answer = await fetch(`${observed.service.url}/status`, { headers });
    const { datasets } = (await answer.json()) as { datasets: { id: string; records: number }[] };
    return datasets.find((dataset) => dataset.id === id)?.records;
  };
  let hash: string;
  let modelId: string;

  test("a preview fails for a target event type that no source has, before anything is created", async () => {
    await workspace.setProgram(program(twoUsers).replace('"buy"', '"bui"'));
    await expect(workspace.stack.preview()).rejects.toThrow(/no events to train on: .*Did you mean "buy"\?/s);
    await workspace.setProgram(program(twoUsers));
    expect(observed.calls()).toEqual([]);
  });

  test("are uploaded, and the model is trained after them", async () => {
    const { outputs, calls } = await up();
    expect(outputs.counts?.value).toEqual([2, 24, 1500]);
    expect(await recordCount(outputs.eventDatasetId?.value)).toBe(1500);
    expect(upserts(calls)).toHaveLength(4);
    expect(calls.indexOf("POST /submit-training-job")).toBeGreaterThan(
      Math.max(
        ...["users", "items", "events"].map((kind) => calls.lastIndexOf(`POST /upsert-dataset-${kind}`)),
      ),
    );
    hash = outputs.hash?.value;
    modelId = outputs.modelId?.value;
  });

  test("are written neither to the state nor to the disk", async () => {
    const state = JSON.stringify(await workspace.stack.exportStack());
    expect(state).toContain(hash);
    expect(state).not.toContain("dear secret");
    for (const entry of await readdir(file("local-state"), { recursive: true, withFileTypes: true })) {
      if (entry.isFile())
        expect(await readFile(join(entry.parentPath, entry.name), "utf8")).not.toContain("dear secret");
    }
  });

  test("cause no call if nothing changed, except to look for unfinished uploads", async () => {
    const { changes, calls } = await up();
    expect(changes).toEqual({ same: expect.any(Number) });
    expect(withoutUploadChecks(calls)).toEqual([]);
  });

  test("a preview detects a changed line and its consequences without a write", async () => {
    const text = await readFile(file("acts/1.ndjson"), "utf8");
    await writeFile(file("acts/1.ndjson"), text.replace(`"ts":1700001499`, `"ts":1700009999`));
    observed.calls();
    const { changeSummary, stdout } = await workspace.stack.preview();
    expect(changeSummary).toMatchObject({ update: 1, replace: 2 });
    expect(stdout).toMatch(
      /this trains again, because of a change in EventRecords acts \(acts\/1\.ndjson\)\./,
    );
    expect(stdout).toMatch(/Model m: the last training took [\d.]+ (ms|seconds?|minutes?)\./);
    expect(stdout).not.toMatch(/because of [^.]*sha256/);
    expect(withoutUploadChecks(observed.calls())).toEqual([]);
  });

  test("only the batch with the changed line is sent, and the model is trained again", async () => {
    const { outputs, calls } = await up();
    expect(upserts(calls)).toEqual(["POST /upsert-dataset-events"]);
    expect(outputs.hash?.value).not.toBe(hash);
    expect(outputs.modelId?.value).not.toBe(modelId);
    expect(outputs.counts?.value).toEqual([2, 24, 1500]);
  });

  test("are uploaded again to a replaced dataset", async () => {
    await workspace.setProgram(program(twoUsers, 11));
    const { outputs, calls } = await up();
    expect(upserts(calls)).toEqual(Array(2).fill("POST /upsert-dataset-events"));
    expect(await recordCount(outputs.eventDatasetId?.value)).toBe(1500);
  });

  test("that are rejected fail the resource, and the rejects file has the reasons", async () => {
    await writeFile(file("goods.csv"), "item_id,genre\ni1,jazz\n,folk\n");
    await expect(workspace.stack.up()).rejects.toThrow(
      /ItemRecords \(goods\):.*1 record was rejected.*goods\.csv:3: item_id/s,
    );
    expect(await readFile(file("recommender-rejects-goods.ndjson"), "utf8")).toContain('"line":3');
  });

  test("a missing column fails the preview once, with the existing columns", async () => {
    await writeFile(file("goods.csv"), "sku,genre\ni1,jazz\n");
    const message = await workspace.stack.preview().then(
      () => "",
      (error: Error) => error.message,
    );
    const [line] = message.split("\n").filter((text) => text.trim().startsWith("error:"));
    expect(line).toMatch(
      /'goods' has a problem: source: goods\.csv has no column itemId or item_id; it has sku, genre; use mapping: \{ itemId: "COLUMN" \}$/,
    );
  });

  test("a missing file fails the preview with its name", async () => {
    await rm(file("goods.csv"));
    const missing = /ItemRecords resource 'goods' has a problem: source: goods\.csv: no such file/;
    await expect(workspace.stack.preview()).rejects.toThrow(missing);
  });

  test("a destroy needs neither the files nor the program, and its messages are true at its end", async () => {
    await workspace.setProgram("throw new Error('not to be run')");
    const { summary, stdout } = await workspace.stack.destroy();
    expect(summary.result).toBe("succeeded");
    expect(stdout).toMatch(/The events are deleted with dataset event-dataset-\S+, not before\./);
  });
});

describe("records if the state directory cannot be written", () => {
  let observed: ObservedService;
  let workspace: EngineWorkspace;
  const withMore = (more: string) => `
import { appendFileSync, rmSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import * as recommender from "pulumi-recommender";
const users = new recommender.UserDataset("users", { numShards: 1 });
const source = new pulumi.asset.StringAsset("user_id,age\\nada,36\\n");
new recommender.UserRecords("text", { userDatasetId: users.id, source, format: "csv" });
new recommender.UserRecords("${"n".repeat(10_000)}", { userDatasetId: users.id, source: [{ userId: "ben" }] });
export const userDatasetId = users.id;
${more}`;
  const late = (what: string) =>
    withMore(`const id = users.id.apply((known) => { if (!pulumi.runtime.isDryRun()) ${what}; return known; });
export const late = new recommender.UserRecords("late", { userDatasetId: id, source: "late.csv" }).recordCount;`);

  beforeAll(async () => {
    observed = await ObservedService.start();
    workspace = await engineWorkspace(withMore(""), observed.environment);
    workspace.stack.workspace.envVars.XDG_STATE_HOME = "/proc/nope";
    await writeFile(join(workspace.directory, "late.csv"), "user_id\neve\n");
  });
  afterAll(async () => {
    await workspace.dispose();
    await observed.close();
  });

  test("are uploaded, with any name of their resource", async () => {
    const { stdout } = await workspace.stack.up();
    expect(stdout).toMatch(/Cannot record the progress of the upload .*XDG_STATE_HOME/);
    const headers = { apikey: observed.service.key };
    const answer = await fetch(`${observed.service.url}/status`, { headers });
    expect(await answer.json()).toMatchObject({ datasets: [{ records: 2 }] });
  });

  test("are read when they are uploaded, and a file that was deleted until then is an error", async () => {
    await workspace.setProgram(late('appendFileSync("late.csv", "fay\\n")'));
    expect((await workspace.stack.up()).outputs.late?.value).toBe(2);
    await workspace.setProgram(late('rmSync("late.csv")'));
    await expect(workspace.stack.up()).rejects.toThrow(
      /'late' has a problem: source: late\.csv: no such file/,
    );
  });
});
