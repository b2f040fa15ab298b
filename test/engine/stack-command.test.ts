import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command, ended } from "../service/process";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const program = `
  import * as recommender from "pulumi-recommender";
  const users = new recommender.UserDataset("users", { numShards: 1 });
  const items = new recommender.ItemDataset("items", { numShards: 1 });
  const events = new recommender.EventDataset("events", { numShards: 1 });
  new recommender.EventDataset("other", { numShards: 1 });
  const project = new recommender.Project("shop", {
    userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "purchase",
  });
  export const ids = { users: users.id, events: events.id };`;

let workspace: EngineWorkspace;
let ids: { users: string; events: string };
beforeAll(async () => {
  workspace = await engineWorkspace(program);
  // Relative to the program, not to the directory of the command.
  await workspace.stack.setConfig("recommender:baseUrl", { value: "embedded:data" });
  ids = (await workspace.stack.up()).outputs.ids?.value;
});
afterAll(async () => {
  await run("stop", "--data", join(workspace.directory, "data"));
  await workspace.dispose();
});

/** Runs the command in a directory next to the project. Only access to the stack is configured. */
async function run(...args: string[]) {
  const elsewhere = join(workspace.directory, "elsewhere");
  mkdirSync(elsewhere, { recursive: true });
  writeFileSync(join(elsewhere, "e.csv"), "user_id,item_id,ts,event_type\nann,1,2026-11-15,buy\n");
  const env = { ...process.env, ...workspace.stack.workspace.envVars };
  const child = spawn(process.execPath, [command, ...args], {
    cwd: elsewhere,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return ended(child);
}

test("a command takes the service from a stack, and resolves names to ids", async () => {
  const stack = ["--stack", "test", "--cwd", workspace.directory];
  const whoami = await run("whoami", ...stack);
  expect(whoami).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^baseUrl +embedded:\S+data +stack test$/m),
  });
  const listed = await run("datasets", "list", ...stack);
  expect(listed.out).toMatch(new RegExp(`^user +${ids.users} +users +1`, "m"));

  const imported = await run("import", "events", "e.csv", "--dataset", "events", ...stack);
  expect(imported).toMatchObject({
    code: 0,
    err: "",
    out: expect.stringContaining(`1 event into ${ids.events}`),
  });
  const again = await run("import", "events", "e.csv", "--dataset", ids.events, ...stack, "--json");
  expect(JSON.parse(again.out)).toMatchObject({ recordCount: 1, sentCount: 0 });
  // The only resource of a type can be left out. If there are two, one must be named.
  expect(await run("models", "list", ...stack)).toMatchObject({ code: 0, out: "There are no models.\n" });
  expect(await run("import", "events", "e.csv", ...stack)).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /--dataset is missing\. Stack test has several resources of type EventDataset: (events, other|other, events)\. /,
    ),
  });
  expect((await run("models", "get", "x", ...stack)).err).toMatch(
    /^Stack test has no Model called x, so this is used as an id\. Known names: none/,
  );
  expect(await run("models", "list", "--stack", "test")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^Stack test: failed to find project settings file/),
  });
});

test("a missing stack is reported once, with the existing ones", async () => {
  const cwd = ["--cwd", workspace.directory];
  const absent =
    "Stack nope does not exist. Existing stacks: test. Create it with `pulumi stack init nope`.\n";
  for (const args of [
    ["models", "list", "--stack", "nope"],
    ["drift", "--stack", "nope"],
    ["release", "nope"],
    ["rollback", "nope"],
  ]) {
    expect({ args, ...(await run(...args, ...cwd)) }).toEqual({ args, code: 1, out: "", err: absent });
  }
});

test("a command that only reads starts no service, and lists the stacks that it could use", async () => {
  for (const args of [
    ["datasets", "list"],
    ["models", "list", "--project", "p"],
    ["recommend", "ann"],
    ["whoami"],
  ]) {
    const { code, out, err } = await run(...args);
    expect({ args, code, out }).toEqual({ args, code: 1, out: "" });
    expect(err.replace(/\s+/g, " ")).toMatch(
      /^There is no embedded service in \S+\.recommender\. .* with --stack: test\. $/,
    );
  }
  expect(existsSync(join(workspace.directory, "elsewhere", ".recommender"))).toBe(false);
});

test("a stack can be opened before its program is built", async () => {
  const file = join(workspace.directory, "Pulumi.yaml");
  const before = readFileSync(file, "utf8");
  writeFileSync(file, `${before}main: dist/index.js\n`);
  const { code, err } = await run("rollback", "test", "--cwd", workspace.directory);
  writeFileSync(file, before);
  expect({ code, err }).toEqual({
    code: 1,
    err: "test has no earlier release to roll back to: the history has no other release.\n",
  });
});

test("status and stop find the embedded service of a stack", async () => {
  const stack = ["--stack", "test", "--cwd", workspace.directory];
  const status = await run("status", ...stack);
  expect(status).toMatchObject({ code: 0, err: "", out: expect.stringContaining("1 project") });
  expect((await run("status", "--stack", "")).err).toMatch(/^--stack /);
  expect(await run("status", ...stack, "--data", "x")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/'--stack <name>' cannot be used with option '--data <dir>'/),
  });
  expect(await run("stop", ...stack)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Stopped process/),
  });
  expect((await run("status", ...stack)).err).toMatch(/^No service is running for .*data. Start one with/);
  await workspace.stack.setAllConfig({
    "recommender:baseUrl": { value: "https://api.example.com" },
    "recommender:apiKey": { value: "key", secret: true },
    "recommender:tokenCommand": { value: "echo token" },
  });
  expect((await run("status", ...stack)).err).toBe(
    "Stack test uses the service at https://api.example.com, which has no local data directory. Choose a stack with an embedded service, or pass --data DIR.\n",
  );
});
