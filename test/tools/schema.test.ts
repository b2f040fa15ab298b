import { readFileSync } from "node:fs";
import { join } from "node:path";
import { definitions } from "../../provider/definitions";
import { components } from "../../provider/plugin/components";
import { packageSchema } from "../../tools/schema";
import { convertedExamples, exampleOf, writtenExamples } from "../../tools/schema/examples";
import { renewedPage } from "../../tools/schema/resources-page";
import { Sources } from "../../tools/schema/sources";

const examples = convertedExamples();
const schema = packageSchema(examples);
const resource = (name: string) => schema.resources[`recommender:index:${name}`];

test("schema.json matches the resources and their TSDoc; `npm run schema` updates it", () => {
  const file = readFileSync(join(__dirname, "../../schema.json"), "utf8");
  expect(file).toBe(`${JSON.stringify(schema, null, 2)}\n`);
});

test("docs/resources.md matches the schema; `npm run schema` updates it", () => {
  const page = readFileSync(join(__dirname, "../../docs/resources.md"), "utf8");
  expect(page).toBe(renewedPage(schema, examples));
});

test("every resource and every lookup has a heading in docs/resources.md", () => {
  const page = renewedPage(schema, examples);
  const headings = [...page.matchAll(/^#+ (\w+)$/gm)].map(([, heading]) => heading);
  const names = Object.keys({ ...schema.resources, ...schema.functions }).map((one) => one.split(":")[2]);
  expect(headings).toEqual(expect.arrayContaining(names));
});

test("every resource and lookup has a converted example that matches its source", () => {
  const yaml = Object.fromEntries(Object.entries(examples).map(([name, example]) => [name, example.yaml]));
  expect(yaml).toEqual(writtenExamples());
  for (const [token, { description }] of Object.entries({ ...schema.resources, ...schema.functions })) {
    expect(exampleOf(token.split(":")[2] ?? "", examples)).toBeDefined();
    for (const language of ["typescript", "python", "go", "yaml"])
      expect(description).toContain(`\`\`\`${language}\n`);
  }
});

test("every resource and component is in the schema, and the types of dynamic resources are aliases", () => {
  const types = [...Object.keys(definitions), ...components.map(({ type }) => type)];
  expect(Object.keys(schema.resources).sort()).toEqual(
    types.map((type) => `recommender:index:${type}`).sort(),
  );
  for (const type of Object.keys(definitions))
    expect(resource(type)?.aliases).toEqual([{ type: `pulumi-nodejs:dynamic/recommender:${type}` }]);
});

test("arguments are inputs with defaults, enums and rules; values that a lifecycle computes are outputs", () => {
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

test("result URLs, also in lookups, and the credentials of the provider are secret", () => {
  const { variables } = schema.config;
  const secrets = Object.keys(variables).filter((key) => variables[key]?.secret);
  expect(secrets).toEqual(["apiKey", "accessToken", "clientSecret"]);
  expect(variables.apiKey?.description).toMatch(/RECOMMENDER_API_KEY/);
  for (const type of ["UserQuery", "UserClustering", "UserRecommendations"])
    expect(resource(type)?.properties.downloadUrl).toMatchObject({ secret: true });
  expect(schema.types["recommender:index:GetJobJobResult"]).toMatchObject({
    properties: { servingUri: { type: "string" }, downloadUrl: { secret: true } },
  });
});

test("a component takes the arguments of its job and its result, except those that link the two", () => {
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

describe("a deprecated symbol", () => {
  const deprecated = packageSchema(examples, new Sources(join(__dirname, "deprecated-package.ts")));

  /** Returns the deprecation messages in a schema, by path. */
  const messagesIn = (whole: object) => Object.fromEntries(entriesIn(whole, []));
  function entriesIn(value: unknown, path: readonly string[]): [string, unknown][] {
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) =>
      key === "deprecationMessage"
        ? [[path.join(" "), inner] as [string, unknown]]
        : entriesIn(inner, [...path, key.replace("recommender:index:", "")]),
    );
  }

  test("has its message in the schema: resources, arguments, outputs, nested fields, lookups and their arguments", () => {
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

  test("is marked on the page", () => {
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
