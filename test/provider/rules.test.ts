import { routes } from "../../contract";
import type { Properties } from "../../provider/run/state-entry";
import { ObservedService } from "../engine/observed-service";
import { deployWith } from "./deploying";
import { DynamicProvider, unknownValue } from "./dynamic-provider";
import { trainedProject } from "./trained-project";

describe("the rules of a deployment", () => {
  let observed: ObservedService;
  let provider: DynamicProvider;
  let projectId: string;
  let models: [string, string];
  beforeAll(async () => {
    observed = await ObservedService.start({ faults: true });
    provider = await DynamicProvider.start(observed.config);
    ({ projectId, models } = await trainedProject(observed));
  });
  afterAll(async () => {
    await provider.stop();
    await observed.close();
  });

  const rules = { pin: [{ itemId: "i1", position: 2 }], boost: [{ when: "true", factor: 1.5 }] };
  const live = async () => (await observed.call(routes.getDeployment, { projectId })).rules;
  const job = (more: object): Properties =>
    ({ name: "live", projectId, generatorModelId: models[0], qps: 50, ...more }) as Properties;
  const faultsOf = async (more: object) => (await provider.check("DeploymentJob", job(more))).failures;

  test("are deployed, reported by a refresh if they are changed by hand, and deployed again", async () => {
    const { state } = await deployWith(provider, projectId, {
      generatorModelId: models[0],
      rules,
    } as Properties);
    expect(await live()).toEqual(rules);
    const other = { filter: "true" };
    const { jobId } = await observed.call(routes.submitDeploymentJob, {
      ...{ projectId, name: "by hand", generatorModelId: models[0], qps: 50, rules: other },
    });
    await observed.service.idle();
    const read = await provider.read("Deployment", projectId, state);
    expect(read.state).toMatchObject({ rules: other, deploymentJobId: jobId });
    const { servingUri: _, stableServingUri: __, deploymentJobId: ___, ...declared } = state;
    expect(await provider.diff("Deployment", projectId, read.state, declared)).toMatchObject({
      changes: true,
    });
    await provider.update("Deployment", projectId, read.state, declared);
    expect(await live()).toEqual(rules);
  });

  test("can be removed by hand, which a refresh reports", async () => {
    const [generatorModelId] = models;
    const { state } = await deployWith(provider, projectId, { generatorModelId, rules } as Properties);
    await observed.call(routes.submitDeploymentJob, {
      projectId,
      name: "by hand",
      generatorModelId,
      qps: 50,
    });
    await observed.service.idle();
    const read = await provider.read("Deployment", projectId, state);
    expect(Object.keys(read.state)).not.toContain("rules");
  });

  test("are checked in a preview: syntax and names", async () => {
    expect(await faultsOf({ rules })).toEqual([]);
    expect(await faultsOf({ rules: unknownValue })).toEqual([]);
    expect(await faultsOf({ rules: { bury: [{ when: "item.price <", factor: 0.5 }] } })).toEqual([
      "rules.bury[0].when: at character 13: the expression ends too early",
    ]);
    expect(await faultsOf({ rules: { boots: [] } })).toEqual([
      expect.stringMatching(/boots is unknown; did you mean boost\?/),
    ]);
  });

  test("are checked in a preview: factors that would do the opposite", async () => {
    const factor = (kind: string, value: unknown) =>
      faultsOf({
        rules: {
          [kind]: [
            { when: "true", factor: kind === "boost" ? 2 : 0.5 },
            { when: "true", factor: value },
          ],
        },
      });
    expect(await factor("boost", 0.5)).toEqual([
      "rules.boost[1].factor: expected more than 1; bury moves items down",
    ]);
    expect(await factor("boost", 1)).toHaveLength(1);
    expect(await factor("bury", 1.5)).toEqual([
      "rules.bury[1].factor: expected less than 1; boost moves items up",
    ]);
    expect(await factor("bury", 0)).toEqual(["rules.bury[1].factor: expected a number more than 0"]);
    expect(await factor("boost", 1.5)).toEqual([]);
  });

  test("are checked with the attribute schemas of the project's datasets", async () => {
    const { itemDatasetId } = await observed.call(routes.createItemDataset, {
      ...{ name: "items", numShards: 1, attributeSchema: { price: "NUMERICAL", brand: "CATEGORICAL" } },
    });
    const of = await observed.call(routes.getProject, { projectId });
    const { projectId: priced } = await observed.call(routes.createProject, {
      name: "priced",
      userDatasetId: of.userDatasetId as string,
      itemDatasetId,
      eventDatasetId: of.eventDatasetId as string,
      targetEventType: "purchase",
    });
    const faults = (given: object) => faultsOf({ projectId: priced, rules: given });
    expect(await faults({ filter: 'item.price < 20.0 && "x" in item.brand && user.any == 1' })).toEqual([]);
    expect(await faults({ filter: "item.pric < 20.0" })).toEqual([
      "rules.filter: at character 1: item.pric is unknown; did you mean item.price?",
    ]);
    expect(await faults({ filter: 'item.price == "a"' })).toEqual([
      expect.stringMatching(/^rules\.filter: at character \d+: == compares values of the same kind/),
    ]);
    expect(await faults({ limitPer: [{ attribute: "brnd", max: 1 }] })).toEqual([
      "rules.limitPer[0].attribute: brnd is unknown; did you mean brand?",
    ]);
  });

  test("are checked in an adopted deployment, which has no job", async () => {
    const adopted = job({ existingId: projectId, rules: { filter: "item.price <" } });
    expect((await provider.check("Deployment", adopted)).failures).toEqual([
      "rules.filter: at character 13: the expression ends too early",
    ]);
  });

  test("are checked like the filter of a check", async () => {
    const check = { userIds: ["u1"], filterQuery: "item.price <" };
    const declared = job({ existingId: projectId, check });
    expect((await provider.check("Deployment", declared)).failures).toEqual([
      "check.filterQuery: at character 13: the expression ends too early",
    ]);
    const valid = { ...declared, check: { ...check, filterQuery: "item.price < 2" } };
    expect((await provider.check("Deployment", valid)).failures.join()).not.toContain("filterQuery");
  });

  test("are not quoted in errors if they are secret", async () => {
    const secret = { rules: { filter: "1 == nonsense" }, __secret: ["rules"] };
    const [fault, ...others] = await faultsOf(secret);
    expect(fault).toBe(
      "rules.filter: at character 6: the expression is invalid; the reason contains secrets",
    );
    expect(others).toEqual([]);
  });

  test("are checked without naming attributes of a schema that is secret", async () => {
    const fresh = await DynamicProvider.start(observed.config);
    const schema = { attributeSchema: { price: "NUMERICAL" }, __secret: ["attributeSchema"] };
    await fresh.check("ItemDataset", { name: "items", numShards: 1, ...schema } as Properties);
    const rules = { limitPer: [{ attribute: "pric", max: 1 }] };
    const check = async (more: object) =>
      (await fresh.check("DeploymentJob", job({ projectId: unknownValue, rules, ...more }))).failures;
    expect(await check({})).toEqual(["rules.limitPer[0].attribute: the attribute is unknown"]);
    expect(await check({ rules: { filter: "item.pric < 20" } })).toEqual([
      "rules.filter: at character 1: the expression is invalid; the reason contains secrets",
    ]);
    await fresh.stop();
  });

  test("are checked with the schemas of the program if the project does not exist yet", async () => {
    const fresh = await DynamicProvider.start(observed.config);
    const schema = { price: "NUMERICAL" };
    await fresh.check("ItemDataset", {
      name: "items",
      numShards: 1,
      attributeSchema: schema,
    } as Properties);
    const check = async (filter: string) =>
      (await fresh.check("DeploymentJob", job({ projectId: unknownValue, rules: { filter } }))).failures;
    expect(await check("item.price < 20")).toEqual([]);
    expect(await check("item.pric < 20")).toEqual([
      "rules.filter: at character 1: item.pric is unknown; did you mean item.price?",
    ]);
    await fresh.stop();
  });
});
