import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nouns } from "../../provider/nouns";
import { components } from "../../provider/plugin/components";
import { packageSchema } from "../../tools/schema";
import { convertedExamples, exampleOf, writtenExamples } from "../../tools/schema/examples";
import { renewedPage } from "../../tools/schema/resources-page";
import { Sources } from "../../tools/schema/sources";

const examples = convertedExamples();
const schema = packageSchema(examples);
const resource = (name: string) => schema.resources[`recommender:index:${name}`];

test("schema.json is what the nouns and their TSDoc say now (npm run schema writes it)", () => {
  const file = readFileSync(join(__dirname, "../../schema.json"), "utf8");
  expect(file).toBe(`${JSON.stringify(schema, null, 2)}\n`);
});

test("docs/resources.md is what the schema says now (npm run schema writes it)", () => {
  const page = readFileSync(join(__dirname, "../../docs/resources.md"), "utf8");
  expect(page).toBe(renewedPage(schema, examples));
});

test("every resource and every lookup has a heading in docs/resources.md", () => {
  const page = renewedPage(schema, examples);
  const headings = [...page.matchAll(/^#+ (\w+)$/gm)].map(([, heading]) => heading);
  const names = Object.keys({ ...schema.resources, ...schema.functions }).map((one) => one.split(":")[2]);
  expect(headings).toEqual(expect.arrayContaining(names));
});

test("every resource and every lookup has an example that was converted from what is written beside it", () => {
  const yaml = Object.fromEntries(Object.entries(examples).map(([name, example]) => [name, example.yaml]));
  expect(yaml).toEqual(writtenExamples());
  for (const [token, { description }] of Object.entries({ ...schema.resources, ...schema.functions })) {
    expect(exampleOf(token.split(":")[2] ?? "", examples)).toBeDefined();
    for (const language of ["typescript", "python", "go", "yaml"])
      expect(description).toContain(`\`\`\`${language}\n`);
  }
});

test("every noun and every component is a resource, and what a dynamic stack holds is an alias of the noun", () => {
  const types = [...Object.keys(nouns), ...components.map(({ type }) => type)];
  expect(Object.keys(schema.resources).sort()).toEqual(
    types.map((type) => `recommender:index:${type}`).sort(),
  );
  for (const type of Object.keys(nouns))
    expect(resource(type)?.aliases).toEqual([{ type: `pulumi-nodejs:dynamic/recommender:${type}` }]);
});

test("arguments are inputs with their defaults, enums and rules; what a lifecycle finds out is an output", () => {
  expect(resource("EventDataset")).toMatchObject({
    requiredInputs: ["numShards"],
    inputProperties: {
      numShards: { type: "integer", willReplaceOnChanges: true },
      attributeSchema: {
        additionalProperties: { $ref: "#/types/recommender:index:AttributeHandling" },
      },
    },
    properties: { eventDatasetId: { type: "string" } },
  });
  expect(resource("Deployment")?.inputProperties.qps).toMatchObject({ type: "integer", default: 1 });
  expect(resource("EventRecords")?.inputProperties).not.toHaveProperty("contentHash");
  expect(resource("EventRecords")?.properties).toHaveProperty("contentHash");
  expect(resource("EventDataset")?.properties).not.toHaveProperty("__inferred");
});

test("secrets are secret: the address of a result, of a lookup too, and the credentials of the provider", () => {
  const { variables } = schema.config;
  const secrets = Object.keys(variables).filter((key) => variables[key]?.secret);
  expect(secrets).toEqual(["apiKey", "accessToken", "clientSecret"]);
  expect(variables.apiKey?.description).toMatch(/RECOMMENDER_API_KEY/);
  for (const type of ["UserQuery", "UserClustering"])
    expect(resource(type)?.properties.downloadUrl).toMatchObject({ secret: true });
  expect(schema.types["recommender:index:GetJobJobResult"]).toMatchObject({
    properties: { servingUri: { type: "string" }, downloadUrl: { secret: true } },
  });
});

test("a component takes what its job and its result take, but for what links the two", () => {
  const trained = resource("TrainedModel");
  expect(Object.keys(trained?.inputProperties ?? {}).sort()).toEqual([
    "algorithmId",
    "name",
    "projectId",
    "triggers",
  ]);
  expect(trained?.requiredInputs).toEqual(["projectId", "algorithmId"]);
  expect(trained?.properties).toMatchObject({ modelId: { type: "string" } });
  expect(trained?.properties).not.toHaveProperty("submittedJobId");
});

describe("what its TSDoc calls deprecated", () => {
  const deprecated = packageSchema(examples, new Sources(join(__dirname, "deprecated-package.ts")));

  /** The messages of everything in a schema that is deprecated, by its path. */
  const messagesIn = (whole: object) => Object.fromEntries(entriesIn(whole, []));
  function entriesIn(value: unknown, path: readonly string[]): [string, unknown][] {
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) =>
      key === "deprecationMessage"
        ? [[path.join(" "), inner] as [string, unknown]]
        : entriesIn(inner, [...path, key.replace("recommender:index:", "")]),
    );
  }

  test("has its message in the schema: resources, arguments, outputs, members of objects, lookups and what they take", () => {
    expect(messagesIn(deprecated)).toEqual({
      ...messagesIn(schema),
      "resources Algorithm": "Use a recipe.",
      "resources Algorithm inputProperties name": "Use the logical name.",
      "resources Algorithm properties algorithmId": "Use `id`.",
      "types DeploymentCheck properties minResults": "Use `enough`.",
      "resources UserClustering": "Use a `UserQuery`.",
      "resources UserClusteringResult": "Use a `UserQuery`.",
      "functions getModel": "Use `listModels`.",
      "functions recommend inputs properties servingUri": "Name a provider.",
    });
    const { description } = deprecated.resources["recommender:index:Algorithm"] ?? {};
    expect(description).toMatch(/^A configuration\.\n\nModels are trained from it\.\n\n\{\{% examples/);
  });

  test("says so on the page", () => {
    const page = renewedPage(deprecated, examples);
    expect(page).toContain(
      "## Algorithm\n\nA configuration.\n\nModels are trained from it.\n\n**Deprecated:** Use a recipe.\n",
    );
    expect(page).toContain(
      "| Name of the algorithm. **Deprecated:** Use the logical name. | the logical name |",
    );
    expect(page).toContain("| The id of the algorithm. **Deprecated:** Use `id`. |");
    expect(page).toContain("### getModel\n\nReads one model.\n\n**Deprecated:** Use `listModels`.\n");
    expect(page).toContain("| `servingUri` | Where to ask. **Deprecated:** Name a provider. |");
  });
});
