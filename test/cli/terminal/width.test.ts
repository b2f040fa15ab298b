import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { write } from "../../../provider/recovery/journal";
import { command } from "../../service/process";
import { everyCommand } from "../every-command";
import { ShopCommand } from "../shop-command";

// Do not depend on the state of other tests.
const stateHome = mkdtempSync(join(tmpdir(), "recommender-state-"));
process.env.XDG_STATE_HOME = stateHome;
process.env.PULUMI_HOME = join(stateHome, "pulumi");

const longName =
  "everything that was clicked, bought or put aside in the shops of all countries since the spring";
const attributes = Array.from({ length: 12 }, (_, at) => `attribute${at}`);

let shop: ShopCommand;
beforeAll(async () => {
  shop = await ShopCommand.open();
  const attributeSchema = Object.fromEntries(attributes.map((name) => [name, "CATEGORICAL" as const]));
  await shop.api.call("createEventDataset", { name: longName, numShards: 1, attributeSchema });
  const items = [{ itemId: "i0", attributes: { genre: ["drama"], title: longName } }];
  await shop.api.call("upsertDatasetItems", { itemDatasetId: shop.ids.itemDatasetId, items });
});
afterAll(async () => {
  await shop.close();
  rmSync(stateHome, { recursive: true });
});

/** Returns lines over 80 columns that could have been wrapped. A single long id, address, path or command cannot. */
function wide(text: string): string[] {
  return text.split("\n").filter((line) => line.length > 80 && !/^\s*(\S+|`[^`]+`\S*)$/.test(line));
}

const ran: string[] = [];

/** An environment without the size of a terminal, so the width is 80 columns. */
const untold = { COLUMNS: "" };

/** Runs a command, and checks that its output fits into 80 columns. */
async function narrow(code: number, ...args: string[]): Promise<string> {
  ran.push(args.join(" "));
  const ended = await shop.runWith(untold, ...args);
  const said = ended.out + ended.err;
  expect({ args, code: ended.code, said, wide: wide(said) }).toMatchObject({ code, wide: [] });
  expect(said).not.toBe("");
  return said;
}

test("commands of the embedded service print within 80 columns", async () => {
  const data = join(shop.directory, "a directory with a name", "that is nested".repeat(6));
  mkdirSync(data, { recursive: true });
  const env = { ...process.env, ...untold };
  const child = spawn(process.execPath, [command, "serve", "--data", data], { env });
  ran.push("serve");
  let said = "";
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (text) => {
      said += text;
      if (/key is in/.test(said)) resolve();
    });
    child.once("exit", () => resolve());
  });
  expect(said).toContain("Serving");
  expect(wide(said)).toEqual([]);
  expect(await narrow(0, "status", "--data", data)).toContain("0 projects");
  await narrow(0, "clients", "add", "ci", "--scopes", "read,write", "--data", data);
  await narrow(1, "clients", "add", "ci", "--scopes", "everything", "--data", data);
  await narrow(0, "clients", "update", "ci", "--scopes", "all", "--data", data);
  await narrow(0, "clients", "list", "--data", data);
  await narrow(0, "clients", "revoke", "ci", "--data", data);
  await narrow(0, "export", join(data, "..", "backup"), "--data", data);
  await narrow(0, "stop", "--data", data);
  await narrow(1, "status", "--data", data);
  await narrow(0, "restore", join(data, "..", "backup"), "--data", join(data, "..", "restored"));
  await narrow(0, "reset", "--data", data, "--yes");
});

test("commands of data print within 80 columns", async () => {
  const { eventDatasetId, itemDatasetId } = shop.ids;
  const listed = await narrow(0, "datasets", "list");
  for (const name of attributes) expect(listed.replace(/\s+/g, " ")).toContain(`${name}: categorical`);
  await narrow(1, "datasets", "delete", eventDatasetId, "event-dataset-00000000000000000000");
  writeFileSync(join(shop.directory, "items.json"), JSON.stringify([{ itemId: "i1" }, { title: "no id" }]));
  await narrow(2, "import", "items", "items.json", "--dataset", itemDatasetId);
  await narrow(0, "import", "items", "items.json", "--dataset", itemDatasetId, "--max-failures", "1");
  await narrow(1, "import", "items", "items.json", "--dataset", itemDatasetId, "--map", "id=x");
  const range = ["--start", "2020-01-02", "--before", "2020-01-03"];
  await narrow(1, "events", "prune", "--dataset", eventDatasetId, ...range);
  await narrow(0, "events", "prune", "--dataset", eventDatasetId, ...range, "--yes");
  await narrow(0, "events", "forget-user", "nobody", "--dataset", eventDatasetId, "--yes");
});

test("commands of models and jobs print within 80 columns", async () => {
  const project = ["--project", shop.ids.projectId];
  await narrow(0, "models", "rename", shop.modelId, longName, ...project);
  await narrow(0, "models", "list", ...project);
  await narrow(0, "models", "get", shop.modelId, ...project);
  await narrow(1, "models", "delete", shop.modelId, ...project, "--yes");
  await narrow(0, "recommend", "u0", "--attributes", "genre,title");
  const submitted = await shop.run("cluster", ...shop.asked, "--no-wait");
  const jobId = submitted.out.trim();
  await narrow(0, "jobs", "wait", jobId, ...project);
  await narrow(0, "jobs", "get", jobId, ...project);
  await shop.faults({ job_delay_ms: 1500 });
  await narrow(5, "cluster", ...shop.asked, "--timeout", "100ms", "--service", shop.api.service.url);
  await shop.faults({ jobs: [{ job_type: "QUERYING", times: 4, message: longName }] });
  await narrow(4, "query", ...shop.asked, "--where", "genre=drama");
  await shop.faults({});
});

test("commands that run queries print within 80 columns", async () => {
  const where = ["drama", "comedy", "western"].flatMap((genre) => ["--where", `genre=${genre}:0.0..1.0`]);
  await narrow(0, "query", ...shop.asked, ...where);
  await narrow(1, "query", ...shop.asked, "--where", "genre=polka");
  await narrow(0, "distribution", "genre=drama", ...shop.asked);
  await narrow(0, "cluster", ...shop.asked);
  const batch = ["batch", "--project", shop.ids.projectId];
  writeFileSync(join(shop.directory, "users.txt"), "u1\nnobody\n");
  await narrow(0, ...batch, "--users", "users.txt", "--out", join(shop.directory, "lists.ndjson"));
  await narrow(1, ...batch);
  await narrow(1, "shutdown", "--project", shop.ids.projectId);
  const { itemDatasetId } = await shop.api.call("createItemDataset", { name: longName, numShards: 1 });
  await shop.api.call("markOrphaned", { objectType: "ITEM_DATASET", objectId: itemDatasetId });
  await narrow(0, "orphans", "list");
  await narrow(1, "orphans", "delete", itemDatasetId);
  await narrow(0, "orphans", "delete", "--all", "--yes");
  const { eventDatasetId, userDatasetId } = shop.ids;
  await narrow(
    0,
    "users",
    "forget",
    "nobody",
    ...["--event-dataset", eventDatasetId],
    ...["--user-dataset", userDatasetId],
    "--yes",
  );
});

test("commands of a stack that does not exist print within 80 columns", async () => {
  const request = { name: longName, numShards: 1, attributeSchema: { a: "CATEGORICAL" } };
  const urn = "urn:pulumi:dev::shop::pulumi-nodejs:dynamic/recommender:EventDataset::clicks";
  await write({
    urn,
    service: shop.api.service.url,
    path: "/create-event-dataset",
    identity: "x",
    key: "x",
    derived: false,
    request,
    // So old that the call cannot be running.
    at: new Date(Date.now() - 3_600_000).toISOString(),
    pid: 1,
    host: "elsewhere",
  });
  await narrow(0, "interrupted");
  await narrow(1, "interrupted", "--forget");
  await narrow(1, "drift", "--stack", "nowhere");
  await narrow(1, "release", "nowhere");
  await narrow(1, "promote", "nowhere", "elsewhere");
  await narrow(1, "rollback", "nowhere");
  await narrow(1, "retrain", "nowhere", "--if-older", "7d");
  await narrow(1, "watch", "nowhere");
  await narrow(1, "releases", "nowhere");
  await narrow(1, "review", "--stack", "nowhere");
  await narrow(1, "comment", "nowhere.md");
});

test("help and wrong calls print within 80 columns", async () => {
  await narrow(0, "whoami");
  await narrow(0, "open", "--no-browser");
  await narrow(0, "plugin", "install");
  await narrow(1, "import", "users", "x", "--dataset", "d", "--parallel", "1000");
  await narrow(1, "release", "dev", "--allow", "everything");
  await narrow(1, "retrain", "dev", "--if-new-events", "often");
  await narrow(1, "models", "list");
});

test("all commands are tested", () => {
  const leaves = everyCommand().commands.filter(({ groups }) => !groups);
  const missing = leaves.filter(({ path }) => !ran.some((line) => `${line} `.startsWith(`${path} `)));
  // Prints a shell script.
  expect(missing.map(({ path }) => path)).toEqual(["completion"]);
});
