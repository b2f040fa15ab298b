import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { version } from "../../package.json";
import { convertedExamples } from "../../tools/schema/examples";
import { buildSdk, checkSchema, generateSdks, isThere } from "../../tools/sdk/generate.js";
import { temporaryFolder } from "./provide";
import { installWheel, python, testUnless, withoutGo } from "./sdk";

const root = join(__dirname, "../..");
const examples = Object.entries(convertedExamples());
const goEnvironment = { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };
const { bin, missing } = withoutGo ? { bin: "", missing: withoutGo } : python();

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  if (!withoutGo) await generateSdks(folder);
}, 1_200_000);

testUnless(withoutGo)("the generators find nothing wrong with schema.json", async () => {
  await checkSchema();
});

testUnless(withoutGo)("the SDK of Go compiles, and so does every example with it", async () => {
  expect(await buildSdk(folder, "go")).toBeUndefined();
  for (const [name, { go }] of examples) {
    const example = join(folder, "go/examples", name);
    await mkdir(example, { recursive: true });
    await writeFile(join(example, "main.go"), go);
  }
  execFileSync("go", ["vet", "-trimpath", "./examples/..."], { cwd: join(folder, "go"), env: goEnvironment });
});

testUnless(missing)(
  "the SDK of Python is a wheel that can be imported, and every example names only what is there",
  async () => {
    const installed = join(folder, "installed");
    installWheel(bin, join(folder, "python"), installed);
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
  },
);

testUnless(withoutGo ?? (isThere("mvn") ? undefined : "there is no `mvn` on PATH"))(
  "the SDK of Java compiles",
  async () => {
    expect(await buildSdk(folder, "java")).toBeUndefined();
  },
);

test("every example in TypeScript is right for the package that is written by hand", () => {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const texts = new Map(examples.map(([name, { typescript }]) => [join(root, `${name}.ts`), typescript]));
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
