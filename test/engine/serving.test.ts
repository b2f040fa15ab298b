import { routes } from "../../contract";
import { trainedProject } from "../provider/trained-project";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

let observed: ObservedService;
let workspace: EngineWorkspace;
let projectId: string;
let algorithmId: string;

beforeAll(async () => {
  observed = await ObservedService.start({ faults: true });
  ({ projectId } = await trainedProject(observed));
  ({ algorithmId } = await observed.call(routes.createAlgorithm, {
    ...{ projectId, name: "g1", algorithmParameters: { dimensions: 4, epochs: 1 } },
  }));
  workspace = await engineWorkspace("", observed.environment);
});
afterAll(async () => {
  await workspace.dispose();
  await observed.close();
});

interface Program {
  readonly trigger?: number;
  readonly modelOptions?: string;
  readonly live?: string;
  readonly minResults?: number;
  readonly liveOptions?: string;
  readonly more?: string;
}

const declare = (program: Program) =>
  workspace.setProgram(`
    import * as recommender from "pulumi-recommender";
    const projectId = "${projectId}";
    const model = new recommender.Model("weekly", {
      projectId, algorithmId: "${algorithmId}", triggers: [${program.trigger ?? 1}],
    }, ${program.modelOptions ?? "{}"});
    new recommender.Deployment("${program.live ?? "live"}", {
      projectId, generatorModelId: model.modelId, qps: 50,
      check: { userIds: ["u1"], minResults: ${program.minResults ?? 1} },
    }, ${program.liveOptions ?? "{}"});
    ${program.more ?? ""}
  `);
const urn = (type: string, name: string) =>
  `urn:pulumi:test::test::pulumi-nodejs:dynamic/recommender:${type}::${name}`;
const up = async (program: Program, target: string[] = []) => {
  await declare(program);
  return (await workspace.stack.up(target.length > 0 ? { target } : {})).stdout;
};
const failed = (run: Promise<unknown>): Promise<string> =>
  run.then(
    () => "it succeeded",
    (error: Error) => error.message,
  );
const serves = () => observed.call(routes.recommendItemsToUser, { userId: "u1" });

test("a deployment stays as declared if resources are targeted, replaced or renamed", async () => {
  // A failed check stays failed, also after a refresh, and passes after a fix.
  for (let run = 0; run < 2; run++)
    expect(await failed(up({ minResults: 1000 }))).toMatch(
      /it is deployed, but the check failed: check\.userIds\[0\]/,
    );
  expect((await workspace.stack.refresh()).stdout).toContain("its check failed; `pulumi up` repeats it");
  expect(await failed(up({ minResults: 1000 }))).toMatch(
    /it is deployed, but the check failed: check\.userIds\[0\]/,
  );
  await up({});
  observed.calls();

  // Only the training: its previous model is in the state and live.
  const alone = await up({ trigger: 2 }, [urn("TrainingJob", "weekly")]);
  expect(alone).not.toContain("no resource references it");

  // The model too, but not the deployment with the previous model.
  const refused = await failed(up({ trigger: 3 }, [urn("TrainingJob", "weekly"), urn("Model", "weekly")]));
  expect(refused).toContain(`target it too, with --target '${urn("Deployment", "live")}'`);
  expect(refused).not.toContain("recommender shutdown");
  // The training that no resource waited for has created a separate model.
  const named = /Model (model-\S+) is orphaned in project/.exec(refused + (await up({ trigger: 3 })));

  // Models are never deleted first: the previous one stays live until the next one is.
  const first = await up({ trigger: 4, modelOptions: "{ deleteBeforeReplace: true }" });
  expect(first).toContain("deleteBeforeReplace does not apply to models");
  const ignoring = { trigger: 5, liveOptions: '{ ignoreChanges: ["generatorModelId"] }' };
  expect(await failed(up(ignoring))).toMatch(/Deployment live of this stack still uses it: .*ignoreChanges/);
  await up({ trigger: 5 });

  // If a deployment is deleted first, the project is shut down and deployed again.
  const options = '{ deleteBeforeReplace: true, replaceOnChanges: ["generatorModelId"] }';
  observed.calls();
  await up({ trigger: 6, liveOptions: options });
  const [submit, shutDown] = ["POST /submit-deployment-job", "DELETE /shutdown-deployment"];
  const calls = observed.calls().filter((call) => call.includes("deployment"));
  // If the job ends before the shutdown, another job follows. If it ends later, its deployment is live.
  expect([
    [submit, shutDown, submit],
    [submit, shutDown],
  ]).toContainEqual(calls);
  await serves();

  // A second deployment is rejected before any call, but a new name for the only one is accepted.
  const second = `new recommender.Deployment("second", { projectId, generatorModelId: model.modelId });`;
  await declare({ trigger: 5, more: second });
  observed.calls();
  expect(await failed(workspace.stack.preview())).toMatch(
    /can have only one Deployment, and .* are declared: remove Deployment second/,
  );
  expect(observed.calls().filter((call) => call.startsWith("POST"))).toEqual([]);
  await up({ trigger: 5, live: "renamed" });
  await serves();

  await workspace.stack.destroy();
  await expect(serves()).rejects.toThrow("NOT_DEPLOYED");
  const { models } = await observed.call(routes.listModels, { projectId });
  const others = models.filter(({ modelId }) => modelId !== named?.[1]);
  expect(others.map(({ name }) => name).sort()).toEqual(["m1", "m2"]);
});
