import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { version } from "../../package.json";
import { convertedExamples } from "../../tools/schema/examples";
import { buildSdk, checkSchema, generateSdks, isThere } from "../../tools/sdk/generate.js";
import { testUnless } from "../unless";
import { temporaryDirectory } from "./provide";
import { compileMs, installWheel, python, withoutGo } from "./sdk";
import { goProgram, javaProgram, pythonProgram, suggestedArgs, suggestions } from "./suggestions";

const root = join(__dirname, "../..");
const examples = Object.entries(convertedExamples());
const goEnvironment = { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };
const { bin, missing } = withoutGo ? { bin: "", missing: withoutGo } : python();

/** The layout of the repository: a directory with the SDKs next to the examples that use them. */
let clone: string;
let directory: string;
beforeAll(async () => {
  clone = await temporaryDirectory();
  directory = join(clone, "sdk");
  await cp(join(root, "examples"), join(clone, "examples"), { recursive: true });
  if (!withoutGo) await generateSdks(directory, undefined, "https://plugins.example.com");
}, 1_200_000);

testUnless(withoutGo, compileMs)("the generators accept schema.json", async () => {
  await checkSchema();
});

testUnless(withoutGo, compileMs)("an SDK names the download address of its plugin", async () => {
  const text = await readFile(join(directory, "python/pulumi_recommender/pulumi-plugin.json"), "utf8");
  expect(JSON.parse(text)).toMatchObject({
    name: "recommender",
    version,
    server: "https://plugins.example.com",
  });
});

test("the engine gets the schema from the plugin", () => {
  const plugin = join(root, "plugin/pulumi-resource-recommender");
  const got = execFileSync("pulumi", ["package", "get-schema", plugin], { encoding: "utf8" });
  const { resources, functions } = JSON.parse(got);
  const schema = JSON.parse(readFileSync(join(root, "schema.json"), "utf8"));
  expect(Object.keys(resources).sort()).toEqual(Object.keys(schema.resources).sort());
  expect(Object.keys(functions).sort()).toEqual(Object.keys(schema.functions).sort());
});

testUnless(withoutGo, compileMs)(
  "the Go SDK, every example, every suggestion of `drift` and the quick start compile",
  async () => {
    expect(await buildSdk(directory, "go")).toBeUndefined();
    const programs = [...examples.map(([name, { go }]) => [name, go] as const), ["suggestions", goProgram()]];
    for (const [name = "", go = ""] of programs) {
      const example = join(directory, "go/examples", name);
      await mkdir(example, { recursive: true });
      await writeFile(join(example, "main.go"), go);
    }
    // Compiles without linking, which would take a second for each.
    const compile = ["list", "-trimpath", "-export", "-f", "{{.ImportPath}}", "./examples/..."];
    const options = { cwd: join(directory, "go"), env: goEnvironment, encoding: "utf8" } as const;
    expect(execFileSync("go", compile, options).trim().split("\n")).toHaveLength(programs.length);
    const quickStart = ["list", "-mod=mod", "-trimpath", "-export", "./..."];
    const here = { ...options, cwd: join(clone, "examples/go") };
    expect(execFileSync("go", quickStart, here).trim()).toBe("record-shop");
  },
);

testUnless(missing, compileMs)(
  "the Python SDK can be imported, passes lists and suggestions of `drift`, and has every name in the examples",
  async () => {
    const installed = join(directory, "installed");
    installWheel(bin, join(directory, "python"), installed);
    const run = (script: string, input = "") =>
      execFileSync(join(bin, "python"), ["-c", script], {
        env: { ...process.env, PYTHONPATH: installed },
        encoding: "utf8",
        input,
      });
    const script =
      "import pulumi_recommender as r; print(r.TrainedModel.__name__, r._utilities.get_version())";
    expect(run(script)).toBe(`TrainedModel ${version}\n`);
    const names = `
import ast, json, sys, pulumi_recommender as recommender
for name, text in json.load(sys.stdin).items():
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "recommender":
            getattr(recommender, node.attr)
`;
    run(names, JSON.stringify(Object.fromEntries(examples.map(([name, { python }]) => [name, python]))));
    const given = { source: [{ userId: "ada", itemId: "x" }], mapping: { attributes: ["a", "b"] } };
    const lists = `
import json, sys, pulumi, pulumi_recommender as recommender
given, seen = json.load(sys.stdin), {}
class Engine(pulumi.runtime.Mocks):
    def new_resource(self, args):
        seen[args.name] = {"source": args.inputs["source"], "mapping": args.inputs["mapping"]}
        return args.name, {**args.inputs, "source": "(records)"}
    def call(self, args):
        return {}
pulumi.runtime.set_mocks(Engine())
@pulumi.runtime.test
def declare():
    records = [
        recommender.UserRecords("user", user_dataset_id="d", **given),
        recommender.ItemRecords("item", item_dataset_id="d", **given),
        recommender.EventRecords("event", event_dataset_id="d", **given),
        recommender.EventRecords("output", event_dataset_id="d", source=pulumi.Output.from_input(given["source"]),
            mapping=recommender.EventMappingArgs(attributes=pulumi.Output.from_input(["a", "b"]))),
    ]
    def compare(mappings):
        assert [one["attributes"] for one in mappings] == [["a", "b"]] * 4, mappings
    return pulumi.Output.all(*[one.mapping for one in records]).apply(compare)
declare()
print(json.dumps(seen))
`;
    const seen = JSON.parse(run(lists, JSON.stringify(given)));
    expect(seen).toEqual({ user: given, item: given, event: given, output: given });
    expect(JSON.parse(run(pythonProgram()))).toMatchObject(suggestedArgs());
  },
);

testUnless(withoutGo ?? (isThere("mvn") ? undefined : "there is no `mvn` on PATH"), compileMs)(
  "the Java SDK, the quick start and every suggestion of `drift` compile",
  async () => {
    // One build for both, so the example needs no installed SDK.
    await writeFile(
      join(clone, "pom.xml"),
      `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>test</groupId>
  <artifactId>test</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <modules><module>sdk/java</module><module>examples/java</module></modules>
</project>
`,
    );
    await writeFile(join(clone, "examples/java/src/main/java/recordshop/Suggestions.java"), javaProgram());
    const build = spawnSync("mvn", ["--quiet", "--batch-mode", "package"], { cwd: clone, encoding: "utf8" });
    expect(build).toMatchObject({ status: 0, stdout: expect.not.stringContaining("ERROR") });
    const classes = await readdir(join(clone, "examples/java/target/classes/recordshop"));
    expect(classes.sort()).toEqual(["App.class", "Suggestions.class"]);
  },
);

test("every TypeScript example and suggestion of `drift` compiles with the hand-written package", () => {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const texts = new Map(examples.map(([name, { typescript }]) => [join(root, `${name}.ts`), typescript]));
  const suggested = ['import * as recommender from "pulumi-recommender";', ...suggestions("nodejs")].join(
    "\n",
  );
  texts.set(join(root, "suggestions.ts"), suggested);
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.getSourceFile = (file, target) => {
    const text = texts.get(file);
    return text === undefined ? getSourceFile(file, target) : ts.createSourceFile(file, text, target);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  const faults = [...texts.keys()].flatMap((file) =>
    program.getSemanticDiagnostics(program.getSourceFile(file)),
  );
  expect(ts.formatDiagnostics(faults, { ...host, getCurrentDirectory: () => root })).toBe("");
  expect(texts.size).toBeGreaterThan(10);
});
