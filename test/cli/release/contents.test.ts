import { readContents, servedModels, servesSameModels } from "../../../cli/release/contents";
import type { StateResource } from "../../../cli/stack/open";
import { pluginTypePrefix, typePrefix } from "../../../provider/run/urn";

let prefix = "";
const type = (noun: string) => prefix + noun;
const resource = (noun: string, name: string, outputs: object, more: Partial<StateResource> = {}) => ({
  urn: `urn:pulumi:dev::shop::${type(noun)}::${name}`,
  type: type(noun),
  outputs: outputs as Record<string, unknown>,
  ...more,
});
const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x" };
const model = (name: string, id: string, more: Partial<StateResource> = {}) =>
  resource(
    "Model",
    name,
    { projectId: "p", quality: { ndcgAt20: 0.5, heldOutPairs: 3, other: 1, recallAt20: "half" } },
    { id, ...more },
  );
const live = (generatorModelId: string, dependency?: string) =>
  resource(
    "Deployment",
    "live",
    { projectId: "p", generatorModelId, qps: 5 },
    dependency ? { propertyDependencies: { generatorModelId: [dependency] } } : {},
  );

describe.each([typePrefix, pluginTypePrefix])(
  "the contents of a stack with the type prefix %s",
  (binding) => {
    beforeAll(() => {
      prefix = binding;
    });

    test("are sorted by name at every depth, and have no secrets", () => {
      const parameters = { z: 1, a: { d: 1, c: secret } };
      const contents = readContents([
        resource("Algorithm", "b", { algorithmType: "G1", algorithmParameters: parameters }),
        resource("Algorithm", "a", { algorithmType: "G1", algorithmParameters: {} }),
        resource("EventRecords", "history", { contentHash: secret, recordCount: 3 }),
      ]);
      expect(contents.algorithms.map(({ name }) => name)).toEqual(["a", "b"]);
      expect(JSON.stringify(contents.algorithms[1]?.declaredParameters)).toBe(
        '{"a":{"c":"[secret]","d":1},"z":1}',
      );
      expect(contents.records).toEqual([
        { name: "history", type: "EventRecords", contentHash: "[secret]", recordCount: 3 },
      ]);
    });

    test("include the live model, also if it is pinned and waits for deletion", () => {
      const now = model("weekly", "m2");
      const former = model("weekly", "m1", { delete: true });
      expect(servedModels([now, former, live("m2", now.urn)])).toEqual([
        {
          name: "live",
          generator: { modelId: "m2", model: "weekly", quality: { ndcgAt20: 0.5, heldOutPairs: 3 } },
        },
      ]);
      expect(servedModels([now, former, live("m1")])).toEqual([
        { name: "live", generator: { modelId: "m1", quality: { ndcgAt20: 0.5, heldOutPairs: 3 } } },
      ]);
      expect(readContents([now, former]).models.map(({ modelId }) => modelId)).toEqual(["m2"]);
    });

    test("include which pairs were held out", () => {
      const measured = { ndcgAt20: 0.5, heldOutPairs: 3, holdOut: "latest" };
      const [recorded] = readContents([
        resource("Model", "weekly", { quality: measured }, { id: "m1" }),
      ]).models;
      expect(recorded?.quality).toEqual(measured);
    });

    test("are compared by generator and ranker models", () => {
      const served = (modelId: string, ranker?: string) => [
        { name: "live", generator: { modelId }, ...(ranker && { ranker: { modelId: ranker } }) },
      ];
      expect(
        servesSameModels(served("m1"), [{ name: "live", generator: { modelId: "m1", model: "weekly" } }]),
      ).toBe(true);
      expect(servesSameModels(served("m1"), served("m2"))).toBe(false);
      expect(servesSameModels(served("m1", "r1"), served("m1"))).toBe(false);
    });

    test("include the rules of deployments, and are compared by them", () => {
      const withRules = (rules: object) =>
        servedModels([resource("Deployment", "live", { generatorModelId: "m1", rules })]);
      const rules = { pin: [{ itemId: "i1", position: 1 }], filter: "true" };
      expect(withRules(rules)[0]?.rules).toEqual(rules);
      expect(servesSameModels(withRules(rules), withRules({ filter: "true", pin: rules.pin }))).toBe(true);
      expect(servesSameModels(withRules(rules), withRules({ filter: "true" }))).toBe(false);
      expect(servesSameModels(withRules(rules), [{ name: "live", generator: { modelId: "m1" } }])).toBe(
        false,
      );
      expect(withRules(secret)[0]?.rules).toBe("[secret]");
    });
  },
);
