import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FixCommands } from "../../../cli/drift/fix-commands";
import { languageOf } from "../../../cli/drift/language";
import { Declarations, findDeclarations } from "../../../cli/drift/location";
import { components } from "../../../provider/plugin/components";

const examples = join(__dirname, "../../../examples");

/** Example programs, and how the line that declares `weekly` starts. */
const programs = {
  nodejs: { file: "quickstart/index.ts", weekly: "const model = new recommender.Model(" },
  yaml: { file: "yaml/Pulumi.yaml", weekly: "  weekly:" },
  python: { file: "python/__main__.py", weekly: "model = recommender.TrainedModel(" },
  go: { file: "go/main.go", weekly: "\tmodel, err := recommender.NewTrainedModel(" },
  java: { file: "java/src/main/java/recordshop/App.java", weekly: "        var model = new TrainedModel(" },
};

const resourceTypeOf = (type: string) => components.find((one) => one.type === type)?.result ?? type;

describe.each(Object.entries(programs))("a program of the runtime %s", (runtime, { file, weekly }) => {
  const text = readFileSync(join(examples, file), "utf8");

  test("declares the resources of the quick start", () => {
    const found = findDeclarations(file, text, languageOf(runtime));
    // YAML cannot give records the name that their dataset has.
    const declared = found.map(
      ({ type, name }) => `${resourceTypeOf(type)} ${name?.replace("Records", "s")}`,
    );
    expect(declared).toEqual([
      ...["UserDataset users", "ItemDataset items", "EventDataset events"],
      ...["UserRecords users", "ItemRecords items", "EventRecords events"],
      ...["Project record-shop", "Algorithm g1", "Model weekly", "Deployment live"],
      ...["UserQuery jazz-lovers", "UserClustering groups"],
    ]);
  });

  test("locates a component for both of its resources", () => {
    const directory = join(examples, file.split("/")[0] as string);
    const declarations = new Declarations(directory, languageOf(runtime), []);
    const line = text.slice(0, text.indexOf(weekly)).split("\n").length;
    for (const type of [
      "TrainedModel$recommender:index:Model",
      "TrainedModel$recommender:index:TrainingJob",
    ]) {
      const urn = `urn:pulumi:dev::shop::recommender:index:${type}::weekly`;
      expect(declarations.locate(urn)).toMatchObject({ file: file.split("/").slice(1).join("/"), line });
    }
  });

  test("declares nothing in comments", () => {
    const comment = { python: "# ", yaml: "# " }[runtime] ?? "// ";
    const commented = text.replace(/^/gm, comment);
    expect(findDeclarations(file, commented, languageOf(runtime))).toEqual([]);
  });
});

test("computed names are undefined, and YAML may have the type further down", () => {
  const python = 'for n in names:\n    recommender.EventDataset(f"e-{n}", num_shards=1)';
  expect(findDeclarations("x.py", python, languageOf("python"))).toMatchObject([
    { line: 2, column: 5, type: "EventDataset", name: undefined },
  ]);
  const yaml =
    'resources:\n  "by hand":\n    properties: { numShards: 1 }\n    type: recommender:index:EventDataset\n';
  expect(findDeclarations("Pulumi.yaml", yaml, languageOf("yaml"))).toMatchObject([
    { line: 2, column: 3, type: "EventDataset", name: "by hand" },
  ]);
});

test("unmanaged objects are adopted by a declaration in the program's language", () => {
  const found = { kind: "unmanaged", type: "EventDataset", id: "event-dataset-1", name: "old" } as const;
  const edit = (runtime: string) =>
    new FixCommands("dev", process.cwd(), [], languageOf(runtime)).unmanaged(found, { numShards: 3 }).accept
      .edit;
  expect(["nodejs", "yaml", "python", "go", "java", "dotnet"].map(edit)).toEqual([
    'add new recommender.EventDataset("old", { existingId: "event-dataset-1", name: "old", numShards: 3 })',
    'add to resources: "old": { type: recommender:EventDataset, properties: { existingId: "event-dataset-1", name: "old", numShards: 3 } }',
    'add recommender.EventDataset("old", existing_id="event-dataset-1", name="old", num_shards=3)',
    'add recommender.NewEventDataset(ctx, "old", &recommender.EventDatasetArgs{ExistingId: pulumi.String("event-dataset-1"), Name: pulumi.String("old"), NumShards: pulumi.Int(3)})',
    'add new EventDataset("old", EventDatasetArgs.builder().existingId("event-dataset-1").name("old").numShards(3).build())',
    'add new Recommender.EventDataset("old", new() { ExistingId = "event-dataset-1", Name = "old", NumShards = 3 })',
  ]);
});

test("a fix targets the resource of either binding, and uses the language's argument names", () => {
  const drift = (type: string, runtime: string) => {
    const urn = `urn:pulumi:dev::shop::${type}::events`;
    const commands = new FixCommands("dev", process.cwd(), [urn], languageOf(runtime));
    const resource = { urn, type: "EventDataset", name: "events" };
    const properties = [
      { path: "numShards", declared: 1, actual: 2 },
      { path: "attributeSchema.isNew", declared: "NUMERICAL" },
      { path: "rollback", actual: { deep: true } },
    ];
    const actual = { numShards: 2, attributeSchema: { age: "NUMERICAL" }, rollback: { deep: true } };
    return commands.drift({ kind: "changed", resource, properties }, Object.keys(actual), actual);
  };
  const dynamic = drift("pulumi-nodejs:dynamic/recommender:EventDataset", "nodejs");
  expect(dynamic.apply.command).toMatch(/--target '\*\*recommender:EventDataset::events'$/);
  expect(dynamic.accept.edit).toBe(
    'declare numShards: 2, attributeSchema: { "age": "NUMERICAL" }, rollback: { "deep": true }',
  );
  const plugin = drift("shop:Shelf$recommender:index:EventDataset", "python");
  expect(plugin.apply.command).toMatch(/--target '\*\*recommender:index:EventDataset::events'$/);
  expect(plugin.accept.edit).toBe(
    'declare num_shards=2, attribute_schema={"age": "NUMERICAL"}, rollback={"deep": True}',
  );
  expect(drift("recommender:index:EventDataset", "go").accept.edit).toBe(
    'declare NumShards: pulumi.Int(2), AttributeSchema: recommender.AttributeHandlingMap{"age": recommender.AttributeHandling("NUMERICAL")}, Rollback: pulumi.Map{"deep": pulumi.Bool(true)}',
  );
});

test("an adopted object gets a logical name that is not taken", () => {
  const urn = "urn:pulumi:dev::shop::recommender:index:Model::weekly";
  const edit = (name: string) =>
    new FixCommands("dev", process.cwd(), [urn], languageOf("nodejs")).unmanaged(
      { kind: "unmanaged", type: "Model", id: "model-1", name, projectId: "p" },
      {},
    ).accept.edit;
  expect(edit("weekly")).toContain('new recommender.Model("weekly-model-1", {');
  expect(edit("")).toContain('new recommender.Model("model-1", {');
});

test("text in YAML is escaped, so it is not a reference", () => {
  const name = "$" + "{price}";
  expect(languageOf("yaml").formatArgument("name", name)).toBe(`name: "$${name}"`);
});

test("a nested argument is an expression of each language, with the names of its SDK", () => {
  const check = { userIds: ["u1"], minResults: 2, maxLatencyMs: 50 };
  const edit = (runtime: string) => {
    const urn = "urn:pulumi:dev::shop::recommender:index:Deployment::live";
    const commands = new FixCommands("dev", process.cwd(), [urn], languageOf(runtime));
    const resource = { urn, type: "Deployment", name: "live" };
    const properties = [{ path: "check.minResults", declared: 1, actual: 2 }];
    return commands.change({ kind: "changed", resource, properties }, known({ check })).accept.edit;
  };
  const known = (actual: object) => ({ actual: { ...actual }, follows: () => undefined, isUndone: false });
  expect(["nodejs", "yaml", "python", "go", "java", "dotnet"].map(edit)).toEqual([
    'declare check: { userIds: ["u1"], minResults: 2, maxLatencyMs: 50 }',
    'declare check: { userIds: ["u1"], minResults: 2, maxLatencyMs: 50 }',
    'declare check={"user_ids": ["u1"], "min_results": 2, "max_latency_ms": 50}',
    'declare Check: &recommender.DeploymentCheckArgs{UserIds: pulumi.StringArray{pulumi.String("u1")}, MinResults: pulumi.Int(2), MaxLatencyMs: pulumi.Float64(50)}',
    'declare check(DeploymentCheckArgs.builder().userIds(List.of("u1")).minResults(2).maxLatencyMs(50.0).build())',
    'declare Check = new Recommender.Inputs.DeploymentCheckArgs { UserIds = new[] { "u1" }, MinResults = 2, MaxLatencyMs = 50.0 }',
  ]);
});
