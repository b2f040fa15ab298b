import { spawn } from "node:child_process";
import type { Report } from "../../cli/drift/finding";
import { routes } from "../../contract";
import { command, ended } from "../service/process";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const program = (rules: object) => `
import * as recommender from "pulumi-recommender";
const users = new recommender.UserDataset("users", { numShards: 1 });
const items = new recommender.ItemDataset("items", { numShards: 1, attributeSchema: { price: "NUMERICAL" } });
const events = new recommender.EventDataset("events", { numShards: 1 });
const actions = new recommender.EventRecords("actions", {
  eventDatasetId: events.id,
  source: Array.from({ length: 240 }, (_, at) => ({
    userId: "u" + (at % 30), itemId: "i" + ((at * 7) % 24), ts: 1700000000000 + at, eventType: "purchase",
  })),
});
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "purchase",
});
const algorithm = new recommender.Algorithm("shop", {
  projectId: project.id, algorithmParameters: { dimensions: 4, epochs: 1, regularization: 0.1, alpha: 1 },
}, { dependsOn: [actions] });
const model = new recommender.Model("taste", { projectId: project.id, algorithmId: algorithm.id });
new recommender.Deployment("live", {
  projectId: project.id, generatorModelId: model.modelId, qps: 20, rules: ${JSON.stringify(rules)},
});
export const projectId = project.id;
`;

const [first, second] = [
  { pin: [{ itemId: "i3", position: 1 }] },
  { pin: [{ itemId: "i5", position: 1 }], limitPer: [{ attribute: "price", max: 2 }] },
];
const wrong = { boost: [{ when: "item.pric < 20.0", factor: 2 }] };
const reason = "rules.boost[0].when: at character 1: item.pric is unknown; did you mean item.price?";

describe("the rules of a deployment, through the real engine", () => {
  let observed: ObservedService;
  let workspace: EngineWorkspace;
  beforeAll(async () => {
    observed = await ObservedService.start();
    workspace = await engineWorkspace(program(wrong), observed.environment);
  });
  afterAll(async () => {
    await workspace.dispose();
    await observed.close();
  });

  const failed = (run: Promise<unknown>) =>
    run.then(
      () => "it succeeded",
      ({ message }: Error) => message,
    );

  test("are previewed, changed without a training, and deployed again if they were changed by hand", async () => {
    expect(await failed(workspace.stack.preview())).toContain(reason);
    await workspace.setProgram(program(first));
    const { outputs } = await workspace.stack.up();
    const projectId = outputs.projectId?.value as string;
    const live = () => observed.call(routes.getDeployment, { projectId });
    expect((await live()).rules).toEqual(first);

    await workspace.setProgram(program(second));
    observed.calls();
    await workspace.stack.up();
    expect((await live()).rules).toEqual(second);
    expect(observed.calls().filter((call) => call.includes("/submit-"))).toEqual([
      "POST /submit-deployment-job",
    ]);
    await workspace.setProgram(program(wrong));
    expect(await failed(workspace.stack.preview())).toContain(reason);

    await workspace.setProgram(program(second));
    const { generatorModelId } = await live();
    await observed.call(routes.submitDeploymentJob, {
      projectId,
      name: "by hand",
      generatorModelId,
      qps: 20,
    });
    await observed.service.idle();
    const child = spawn(process.execPath, [command, "drift", "--stack", "test", "--json"], {
      cwd: workspace.directory,
      env: { ...process.env, ...workspace.stack.workspace.envVars },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { stacks } = JSON.parse((await ended(child)).out) as Report;
    expect(stacks[0]?.drift).toMatchObject([
      { kind: "changed", resource: { type: "Deployment", name: "live" } },
    ]);
    expect(stacks[0]?.drift[0]?.properties.map(({ path }) => path.split(".")[0])).toContain("rules");
    await workspace.stack.up({ refresh: true });
    expect((await live()).rules).toEqual(second);
  });
});
