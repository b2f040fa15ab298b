import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace, installPlugin } from "./workspace";

const run = promisify(execFile);
const pack = join(__dirname, "../../policy-pack");

/** A program with the given parts. By default, it violates every policy. */
const program = ({ protect = false, deployment = "qps: 5000" } = {}) => `
const recommender = require("pulumi-recommender");
const protect = { protect: ${protect} };
const users = new recommender.UserDataset("users", { numShards: 1 }, protect);
const items = new recommender.ItemDataset("items", { numShards: 1 }, protect);
const events = new recommender.EventDataset("events", { numShards: 1 }, protect);
// Nothing fills this dataset.
new recommender.EventDataset("empty", { numShards: 1 });
new recommender.UserRecords("people", { userDatasetId: users.id, source: [{ userId: "u1" }] });
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "purchase",
});
const algorithm = new recommender.Algorithm("g1", { projectId: project.id });
const model = new recommender.Model("weekly", { projectId: project.id, algorithmId: algorithm.id });
new recommender.Deployment("live", { projectId: project.id, generatorModelId: model.modelId, ${deployment} });
`;

let observed: ObservedService;
let workspace: EngineWorkspace;
beforeAll(async () => {
  observed = await ObservedService.start();
  workspace = await engineWorkspace(program(), observed.environment);
  await installPlugin(workspace.directory);
  const { workspace: stacks } = workspace.stack;
  await stacks.createStack("prod");
});
afterAll(async () => {
  await workspace.dispose();
  await observed.close();
});

/** Returns the exit code and the violations of a preview: the name of each policy with its message. */
async function preview(stack: string, binding: string, config?: object) {
  const args = ["preview", "--non-interactive", "--color=never", "--stack", stack, "--policy-pack", pack];
  if (config) {
    const file = join(workspace.directory, "policy-config.json");
    await writeFile(file, JSON.stringify(config));
    args.push("--policy-pack-config", file);
  }
  const env = { ...process.env, ...workspace.stack.workspace.envVars, RECOMMENDER_BINDING: binding };
  const { code, stdout, stderr } = await run("pulumi", args, { cwd: workspace.directory, env }).then(
    (ended) => ({ code: 0, ...ended }),
    (error) => error as { code: number; stdout: string; stderr: string },
  );
  const output = `${stdout}\n${stderr}`;
  return { code, output, calls: observed.calls() };
}

const violations = {
  datasets: (name: string, by: string) => `${name} holds data of ${by} and is not protected`,
  check: "Deployment live has no check.",
  rollback: "Deployment live does not roll back.",
  qps: (limit: number) => `Deployment live has qps 5000, above the limit of ${limit}.`,
};

test.each(["dynamic", "plugin"])(
  "a preview with %s resources fails with every violation",
  async (binding) => {
    await workspace.setProgram(program());
    const { code, output, calls } = await preview("prod", binding);
    expect(output).toContain(violations.check);
    expect(output).toContain(violations.rollback);
    expect(output).toContain(violations.qps(1000));
    expect(output).toContain(violations.datasets("UserDataset users", "UserRecords people"));
    expect(output).toContain(violations.datasets("ItemDataset items", "Project shop"));
    expect(output).toContain(violations.datasets("EventDataset events", "Project shop"));
    expect(output).not.toContain("EventDataset empty holds");
    for (const name of ["protect-datasets", "check-production-deployments", "cap-qps"])
      expect(output).toMatch(new RegExp(`\\[mandatory\\].*${name}`));
    expect(code).not.toBe(0);
    expect(calls.filter((call) => call.startsWith("POST /create"))).toEqual([]);
  },
);

test("a stack that is not in production needs no check, and the limit of qps can be configured", async () => {
  await workspace.setProgram(program());
  const elsewhere = await preview("test", "plugin", {
    "cap-qps": { maxQps: 6000 },
    "protect-datasets": "disabled",
  });
  expect(elsewhere.output).not.toMatch(/Deployment live (has|does)|holds data/);
  expect(elsewhere.code).toBe(0);
  const config = {
    "check-production-deployments": { productionStacks: ["test"] },
    "cap-qps": { maxQps: 4000, enforcementLevel: "advisory" },
    "protect-datasets": "disabled",
  };
  const configured = await preview("test", "plugin", config);
  expect(configured.output).toContain(violations.check);
  expect(configured.output).toMatch(/\[advisory\].*cap-qps/);
  expect(configured.output).toContain(violations.qps(4000));
  expect(configured.code).not.toBe(0);
});

test.each(["dynamic", "plugin"])("a stack of %s resources that keeps the rules passes", async (binding) => {
  const deployment = 'qps: 100, rollback: true, check: { userIds: ["u1"] }';
  await workspace.setProgram(program({ protect: true, deployment }));
  const { code, output } = await preview("prod", binding);
  expect(output).not.toMatch(/\[(mandatory|advisory)\]/);
  expect(output).toContain("✅ recommender@");
  expect(code).toBe(0);
});
