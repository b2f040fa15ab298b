import { canonicalUrn, partsOf, resourceTypeOf, titleOf, typePrefix } from "../../../provider/run/urn";

test("a URN is split into stack, project, type and name, within components and with colons in the name", () => {
  const urn = `urn:pulumi:dev::shop::my:index:Group$${typePrefix}EventDataset::clicks::eu`;
  const parts = partsOf(urn);
  expect(parts).toMatchObject({ stack: "dev", project: "shop", name: "clicks::eu" });
  expect(titleOf(parts)).toBe("EventDataset clicks::eu");
  expect(resourceTypeOf(parts.type)).toBe("EventDataset");
  expect(partsOf(undefined).name).toBe("");
});

test("only a resource of this package has a resource type, not its children", () => {
  expect(resourceTypeOf("pulumi:pulumi:Stack")).toBeUndefined();
  expect(resourceTypeOf("acme-recommender:index:Model")).toBeUndefined();
  expect(resourceTypeOf(`${typePrefix}Project$my:index:Thing`)).toBeUndefined();
});

test("a resource has the same canonical URN with both bindings, in components and below other resources", () => {
  const urnOf = (types: string) => `urn:pulumi:dev::shop::${types}::recommender:index:a$b::c`;
  const dynamic = urnOf(`my:Comp$${typePrefix}Project$${typePrefix}Model`);
  expect(canonicalUrn(urnOf("my:Comp$recommender:index:Project$recommender:index:Model"))).toBe(dynamic);
  expect(canonicalUrn(dynamic)).toBe(dynamic);
  expect(resourceTypeOf("recommender:index:Model")).toBe("Model");
});
