import { execFileSync } from "node:child_process";
import { routes } from "../../contract";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const imports = `import * as recommender from "pulumi-recommender";\n`;
const dataset = (name: string, args: string, options = "{}") =>
  `new recommender.EventDataset("${name}", ${args}, ${options});\n`;

describe("an object of two resources of a stack", () => {
  let observed: ObservedService;
  let workspace: EngineWorkspace;
  let id: string;

  beforeAll(async () => {
    observed = await ObservedService.start();
    workspace = await engineWorkspace(imports, observed.environment);
  });
  afterAll(async () => {
    await workspace.dispose();
    await observed.close();
  });
  beforeEach(async () => {
    await up(dataset("a", "{ numShards: 2 }"));
    [{ eventDatasetId: id } = { eventDatasetId: "" }] = await datasets();
    await up(dataset("a", "{ numShards: 2 }"), both());
    expect(await datasets()).toHaveLength(1);
  });
  afterEach(() => workspace.stack.destroy());

  const up = async (...lines: string[]) => {
    await workspace.setProgram(imports + lines.join(""));
    await workspace.stack.up();
  };
  const both = () => dataset("b", `{ existingId: "${id}", numShards: 2, name: "a" }`);
  const urn = (name: string) =>
    `urn:pulumi:test::test::pulumi-nodejs:dynamic/recommender:EventDataset::${name}`;
  const datasets = async () => (await observed.call(routes.listEventDatasets, {})).eventDatasets;

  test("stays if only the removed resource is targeted", async () => {
    await workspace.setProgram(imports + both());
    await workspace.stack.up({ target: [urn("a")] });
    expect(await datasets()).toMatchObject([{ eventDatasetId: id }]);
    await up();
    expect(await datasets()).toEqual([]);
  });

  test("stays if only one of them is destroyed", async () => {
    const { stdout } = await workspace.stack.destroy({ target: [urn("b")] });
    expect(stdout).toContain(`keeping ${id}: ${urn("a")} uses it`);
    expect(await datasets()).toMatchObject([{ eventDatasetId: id }]);
  });

  test("is deleted with the last one if both are destroyed together", async () => {
    await workspace.stack.destroy();
    expect(await datasets()).toEqual([]);
  });

  test("is deleted if the state references it only once", async () => {
    const env = { ...process.env, ...workspace.stack.workspace.envVars };
    execFileSync("pulumi", ["state", "delete", "--yes", "--stack", "test", urn("b")], {
      cwd: workspace.directory,
      env,
    });
    await up();
    expect(await datasets()).toEqual([]);
  });
});
