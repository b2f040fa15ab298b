import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace, installPlugin } from "./workspace";

const run = promisify(execFile);
const program = `
import * as recommender from "pulumi-recommender";
export const id = new recommender.EventDataset("events", { numShards: 1 }).id;
`;

describe("keys, tokens and secret addresses", () => {
  let observed: ObservedService;
  let workspace: EngineWorkspace;

  beforeAll(async () => {
    observed = await ObservedService.start();
    const passphrase = { PULUMI_CONFIG_PASSPHRASE: "test" };
    workspace = await engineWorkspace(program, { ...passphrase, RECOMMENDER_JOB_POLL_MS: "50" });
    await installPlugin(workspace.directory);
    await configure(observed.config);
  });
  afterAll(async () => {
    await workspace.dispose();
    await observed.close();
  });

  const configure = (
    config: Record<string, string>,
    isSecret = (key: string) => /Key|Secret|Url/.test(key),
  ) =>
    workspace.stack.setAllConfig(
      Object.fromEntries(
        Object.entries(config).map(([key, value]) => [key, { value, secret: isSecret(key) }]),
      ),
    );

  const expectNoneInState = async () => {
    for (const file of await filesUnder(join(workspace.directory, "state"))) {
      const text = await readFile(file, "utf8");
      expect(text).not.toContain(observed.service.key);
      expect(text).not.toContain(new URL(observed.service.url).host);
    }
  };

  test("are not in the state as plain text", async () => {
    await workspace.stack.up();
    await expectNoneInState();
    const { deployment } = await workspace.stack.exportStack();
    const [dataset] = deployment.resources.filter(({ type }: { type: string }) =>
      type.endsWith("EventDataset"),
    );
    expect(Buffer.byteLength(dataset.inputs.__provider)).toBeLessThanOrEqual(200);
  });

  test("are encrypted again if the secrets provider of the stack changes, and the stack still works", async () => {
    const { stack } = workspace;
    const change = run("pulumi", ["stack", "change-secrets-provider", "passphrase", "--stack", "test"], {
      cwd: workspace.directory,
      env: { ...process.env, ...stack.workspace.envVars, PULUMI_TEST_PASSPHRASE: "true" },
    });
    change.child.stdin?.end("another\nanother\n");
    await change;
    Object.assign(stack.workspace.envVars, { PULUMI_CONFIG_PASSPHRASE: "another" });
    await stack.up({ expectNoChanges: true });
    await stack.refresh({ expectNoChanges: true });
  });

  const loudly = async (args: string[], environment: Record<string, string>) => {
    const { stdout, stderr } = await run("pulumi", ["up", "--yes", "--refresh", "--stack", "test", ...args], {
      cwd: workspace.directory,
      env: { ...process.env, ...workspace.stack.workspace.envVars, ...environment },
      maxBuffer: 1 << 28,
    });
    return (stdout + stderr).split("\n");
  };

  const quietly = (environment: Record<string, string>) => loudly(["--skip-preview"], environment);

  const bindings = ["dynamic", "plugin"] as const;
  /** Set in the environment, which takes precedence, because the configuration changes in between. */
  const by = (binding: (typeof bindings)[number]) => ({ RECOMMENDER_BINDING: binding });

  test.each(bindings)("are not in the output of a run with %s and its preview at -v=9", async (binding) => {
    const said = await loudly(["-v=9", "--debug", "--diff"], by(binding));
    expect(said.filter((line) => line.includes(observed.service.key))).toEqual([]);
    const prefix = binding === "plugin" ? "recommender:index:" : "pulumi-nodejs:dynamic/recommender:";
    expect((await workspace.stack.exportStack()).deployment.resources).toContainEqual(
      expect.objectContaining({ type: `${prefix}EventDataset` }),
    );
    await expectNoneInState();
  });

  // The engine's own trace contains the decrypted configuration of any provider. It never sees values from the
  // environment.
  test.each(bindings)(
    "from the environment are not even in the engine's own trace of a run with %s",
    async (binding) => {
      await workspace.stack.removeAllConfig(Object.keys(observed.config));
      const environment = { ...observed.environment, ...by(binding) };
      await quietly(environment);
      const said = await loudly(["-v=9", "--debug", "--logtostderr", "--logflow"], environment);
      expect(said.length).toBeGreaterThan(500);
      expect(said.filter((line) => line.includes(observed.service.key))).toEqual([]);
    },
  );

  test("that a stack stores as plain text cause a warning with the name and the fix", async () => {
    await configure(observed.config, () => false);
    const { stdout } = await workspace.stack.preview();
    for (const key of ["apiKey", "clientSecret"]) {
      const fix = `pulumi config set --secret recommender:${key}`;
      expect(stdout).toContain(`recommender:${key} is stored as plain text. Encrypt it with \`${fix}`);
    }
  });

  test.each(bindings)(
    "that a command printed are neither in the state nor in the output of a run with %s",
    async (binding) => {
      const log = join(workspace.directory, `tokens-${binding}.txt`);
      await writeFile(join(workspace.directory, "token.js"), tokenScript(observed, log));
      const said = await loudly(["-v=9", "--debug"], {
        ...by(binding),
        RECOMMENDER_BASE_URL: observed.service.url,
        RECOMMENDER_API_KEY: observed.service.key,
        RECOMMENDER_TOKEN_COMMAND: "node token.js",
      });
      const tokens = (await readFile(log, "utf8")).trim().split("\n");
      const texts = await Promise.all(
        (await filesUnder(join(workspace.directory, "state"))).map((file) => readFile(file, "utf8")),
      );
      for (const token of tokens)
        expect([...said, ...texts].filter((text) => text.includes(token))).toEqual([]);
    },
  );

  test("in the environment take precedence, so a destroy uses a rotated key", async () => {
    await configure({ ...observed.config, "recommender:apiKey": "revoked" });
    await quietly(observed.environment);
    await expect(workspace.stack.destroy()).rejects.toThrow(/EventDataset events: .*401/);
    Object.assign(workspace.stack.workspace.envVars, observed.environment);
    await workspace.stack.destroy();
  });
});

/** The state has the first key, and the configuration has the second. */
const salts = ["hunter2-very-secret", "correct-horse-battery"];

/** The engine masks secrets of the configuration, but not values that a program computes from them. */
const reversed = (text: string) => [...text].reverse().join("");

const secretProgram = `
import * as pulumi from "@pulumi/pulumi";
import * as recommender from "pulumi-recommender";
const config = new pulumi.Config();
const salt = config.requireSecret("salt");
const made = salt.apply((text) => [...text].reverse().join(""));
const users = new recommender.UserDataset("users", {
  name: salt,
  numShards: 1,
  attributeSchema: made.apply((key) => ({ [key]: "NUMERICAL" as const })),
});
new recommender.UserRecords("people", { userDatasetId: users.id, source: made.apply((userId) => [{ userId }]) });
const items = new recommender.ItemDataset("items", { name: made, numShards: 1 });
const events = new recommender.EventDataset("events", { name: made, numShards: 1 });
const project = new recommender.Project("shop", {
  name: salt,
  userDatasetId: users.id,
  itemDatasetId: items.id,
  eventDatasetId: events.id,
  targetEventType: made,
});
const algorithm = new recommender.Algorithm("g1", { name: made, projectId: project.id });
new recommender.TrainingJob("model", {
  projectId: project.id,
  algorithmId: algorithm.id,
  triggers: [salt, { nested: [made] }],
});
if (config.getBoolean("wrong")) new recommender.EventDataset("adopted", { numShards: 1, existingId: made });
if (config.getBoolean("asks")) recommender.getEventDatasetOutput({ eventDatasetId: made });
`;

describe("secret values of a program", () => {
  let observed: ObservedService;
  let workspace: EngineWorkspace;
  let journal: string;

  beforeAll(async () => {
    observed = await ObservedService.start();
    journal = await mkdtemp(join(tmpdir(), "recommender-journal-"));
    workspace = await engineWorkspace(secretProgram, {
      ...{ ...observed.environment, RECOMMENDER_JOB_POLL_MS: "50", XDG_STATE_HOME: journal },
    });
  });
  afterAll(async () => {
    await workspace.dispose();
    await rm(journal, { recursive: true });
    await observed.close();
  });

  /** Runs a command of the engine on the stack. Returns its output, even if it fails. */
  const pulumi = async (...args: string[]) => {
    const options = {
      cwd: workspace.directory,
      env: { ...process.env, ...workspace.stack.workspace.envVars },
      maxBuffer: 1 << 28,
    };
    const { stdout, stderr } = await run("pulumi", [...args, "--stack", "test"], options).catch(
      (error) => error,
    );
    return `${stdout}${stderr}`;
  };
  const leaks = (text: string) =>
    text
      .split("\n")
      .filter((line) => salts.some((salt) => line.includes(salt) || line.includes(reversed(salt))));

  test("are not in messages, before and after they change, not in journals, and not in the state as plain text", async () => {
    await workspace.stack.setConfig("salt", { value: salts[0] as string, secret: true });
    const said = [await pulumi("up", "--yes")];
    await workspace.stack.setConfig("salt", { value: salts[1] as string, secret: true });
    said.push(await pulumi("preview", "--diff"), await pulumi("up", "--yes", "--skip-preview"));
    expect(said[1]).toMatch(/Replacing UserDataset users: name \(changed\), attributeSchema \(changed\)/);
    expect(said[1]).toMatch(
      /Model model: this trains again, because of .*triggers\[0\] \(changed\), triggers\[1\]/s,
    );
    said.push(await pulumi("preview", "--config", "wrong=true"));
    expect(said.at(-1)).toContain("existingId [secret]: there is no such event dataset");
    said.push(await pulumi("preview", "--config", "asks=true"));
    expect(said.at(-1)).toMatch(/get-event-dataset: 404 .*"\[secret\]"/);
    said.push(await pulumi("refresh", "--yes"), await pulumi("destroy", "--yes"));
    expect(said.at(-1)).toContain("is orphaned");
    expect(said.flatMap(leaks)).toEqual([]);
    const texts = async (directory: string) =>
      Promise.all((await filesUnder(directory)).map((file) => readFile(file, "utf8")));
    const states = await texts(join(workspace.directory, "state"));
    expect([...states, ...(await texts(journal))].flatMap(leaks)).toEqual([]);
    // Short content could be guessed from its hash.
    expect(states.join()).toMatch(/"contentHash":\s*\{/);
    expect(states.join()).not.toMatch(/"contentHash":\s*"/);
  });
});

async function filesUnder(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Command that fetches a token for a scope, prints it, and logs that. */
function tokenScript({ service }: ObservedService, log: string): string {
  return `
const form = { grant_type: "client_credentials", client_secret: "${service.key}", scope: process.env.RECOMMENDER_SCOPE };
fetch("${service.url}/oauth/token", { method: "POST", body: new URLSearchParams(form) })
  .then((answer) => answer.json())
  .then(({ access_token }) => {
    require("fs").appendFileSync(${JSON.stringify(log)}, access_token + "\\n");
    console.log(access_token);
  });
`;
}
