import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface, type Interface } from "node:readline";

const root = join(__dirname, "../..");

/** Checks several trees with the project's rules in one process, because loading the checker takes most of the time. */
const checker = `
  import { createInterface } from "node:readline";
  import { cruise } from "dependency-cruiser";
  import readOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
  import readTypeScript from "dependency-cruiser/config-utl/extract-ts-config";
  const options = await readOptions("./.dependency-cruiser.js");
  for await (const tree of createInterface({ input: process.stdin })) {
    process.chdir(tree);
    const given = { ...options, baseDir: tree };
    const { output } = await cruise(["."], given, undefined, { tsConfig: readTypeScript("tsconfig.json") });
    console.log(JSON.stringify(output.summary.violations));
  }`;

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}

let child: ChildProcess;
let answers: Interface;
let ended: Promise<never>;
beforeAll(() => {
  const args = ["--input-type=module", "--eval", checker];
  child = spawn(process.execPath, args, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  answers = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  ended = once(child, "exit").then(([code]) =>
    Promise.reject(new Error(`The checker exited with code ${code}.`)),
  );
  ended.catch(() => {});
});
afterAll(async () => {
  child.stdin?.end();
  await expect(ended).rejects.toThrow("exited with code 0");
});

/** Returns the violations in a tree of these files. */
async function violations(files: Record<string, string>): Promise<string[]> {
  const tree = mkdtempSync(join(tmpdir(), "recommender-imports-"));
  try {
    for (const [file, text] of Object.entries({ "tsconfig.json": "{}", ...files })) {
      mkdirSync(dirname(join(tree, file)), { recursive: true });
      writeFileSync(join(tree, file), text);
    }
    child.stdin?.write(`${tree}\n`);
    const [line] = await Promise.race([once(answers, "line"), ended]);
    const found = JSON.parse(line) as Violation[];
    return found.map(({ from, to, rule }) => `${rule.name}: ${from} → ${to}`);
  } finally {
    rmSync(tree, { recursive: true });
  }
}

const value = "export const value = 1;\n";
const type = "export interface Shape { readonly side: number }\n";

describe("import rules", () => {
  test("allow imports of lower layers and of the entry points of the service", async () => {
    const found = await violations({
      "contract/index.ts": value,
      "service/index.ts": 'export { value } from "./http/server";\n',
      "service/embedded.ts": value,
      "service/http/server.ts": 'export { value } from "../store/database";\n',
      "service/store/database.ts": 'export { value } from "../../contract";\n',
      "client/client.ts": 'export const load = () => require("../service/embedded");\n',
      "cli/main.ts": 'export const load = () => import("../service/index");\n',
    });
    expect(found).toEqual([]);
  });

  test("reject imports of higher layers, including types", async () => {
    const found = await violations({
      "service/handlers/dataset.ts": value + type,
      "service/store/database.ts": 'export { value } from "../handlers/dataset";\n',
      "service/store/tables.ts":
        'import type { Shape } from "../handlers/dataset";\nexport type Row = Shape;\n',
      "provider/lifecycle/definition.ts": type,
      "provider/run/session.ts":
        'import type { Shape } from "../lifecycle/definition";\nexport type Session = Shape;\n',
      "client/client.ts": 'export { value } from "../provider/index";\n',
      "provider/index.ts": value,
    });
    expect(found.sort()).toEqual([
      ".: client never imports provider: client/client.ts → provider/index.ts",
      "provider: run never imports lifecycle: provider/run/session.ts → provider/lifecycle/definition.ts",
      "service: store never imports handlers: service/store/database.ts → service/handlers/dataset.ts",
      "service: store never imports handlers: service/store/tables.ts → service/handlers/dataset.ts",
    ]);
  });

  test("reject import cycles, including cycles of types", async () => {
    const found = await violations({
      "service/store/one.ts": `import type { Other } from "./other";\nexport type One = Other | 1;\n`,
      "service/store/other.ts": `import type { One } from "./one";\nexport type Other = One | 2;\n`,
    });
    expect(found).toEqual(["no-cycles: service/store/one.ts → service/store/other.ts"]);
  });

  test("reject Pulumi, other libraries and internals of the service where they are forbidden", async () => {
    const found = await violations({
      "contract/index.ts": 'export { join } from "node:path";\n',
      "records/source.ts": 'export * as pulumi from "@pulumi/pulumi";\n',
      "service/algorithms/top.ts": 'export { value } from "../base/clock";\n',
      "service/base/clock.ts": value,
      "telemetry/tracing.ts": 'export { join } from "node:path";\nexport * as grpc from "@grpc/grpc-js";\n',
      "provider/project.ts": 'export const load = () => require("../service/base/clock");\n',
    });
    expect(found.sort()).toEqual([
      "algorithms-are-mathematics: service/algorithms/top.ts → service/base/clock.ts",
      "contract-imports-zod-only: contract/index.ts → path",
      "pulumi-in-provider-only: records/source.ts → @pulumi/pulumi",
      "service-by-its-entry-points: provider/project.ts → service/base/clock.ts",
      "service: algorithms never imports base: service/algorithms/top.ts → service/base/clock.ts",
      "telemetry-imports-node-only: telemetry/tracing.ts → @grpc/grpc-js",
    ]);
  });

  test("reject imports of the client for web pages, and its imports of anything else", async () => {
    const found = await violations({
      "web/index.ts": 'export { value } from "./lists";\nexport { other } from "../contract/index";\n',
      "web/lists.ts": value,
      "contract/index.ts": "export const other = 1;\n",
      "cli/main.ts": 'export { value } from "../web/lists";\n',
      "test/web/lists.test.ts": 'export { value } from "../../web/lists";\n',
    });
    expect(found.sort()).toEqual([
      "web-alone: web/index.ts → contract/index.ts",
      "web-is-a-package: cli/main.ts → web/lists.ts",
    ]);
  });

  test("reject the code of the SDK outside the bindings, and allow its types", async () => {
    const sdk = "node_modules/@pulumi/pulumi/";
    const found = await violations({
      [`${sdk}package.json`]: '{ "name": "@pulumi/pulumi", "main": "index.js", "types": "index.d.ts" }',
      [`${sdk}index.js`]: "exports.value = 1;\n",
      [`${sdk}index.d.ts`]: "export declare const value: number;\nexport type Value = number;\n",
      "provider/program/project.ts": 'export { value } from "@pulumi/pulumi";\n',
      "provider/dynamic/engine.ts": 'export { value } from "@pulumi/pulumi";\n',
      "provider/project.ts": 'import type { Value } from "@pulumi/pulumi";\nexport type Id = Value;\n',
      "provider/run/session.ts": 'export { value } from "@pulumi/pulumi";\n',
    });
    expect(found).toEqual([`sdk-in-bindings-only: provider/run/session.ts → ${sdk}index.js`]);
  });

  test("reject the protocol outside the plugin, and the dynamic binding inside it, except its stub", async () => {
    const found = await violations({
      "provider/plugin/server.ts": 'export { Server } from "@grpc/grpc-js";\n',
      "provider/plugin/resources.ts": 'export { value } from "../dynamic/stub";\n',
      "provider/plugin/main.ts": 'export { value } from "../dynamic/binding";\n',
      "provider/dynamic/stub.ts": value,
      "provider/dynamic/binding.ts": 'export { Struct } from "google-protobuf/google/protobuf/struct_pb";\n',
      "provider/run/engine.ts": 'export { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";\n',
    });
    expect(found.sort()).toEqual([
      "plugin-without-dynamic-binding: provider/plugin/main.ts → provider/dynamic/binding.ts",
      "protocol-in-plugin-only: provider/dynamic/binding.ts → google-protobuf/google/protobuf/struct_pb",
      "protocol-in-plugin-only: provider/run/engine.ts → @pulumi/pulumi/proto/engine_grpc_pb",
    ]);
  });

  test("reject a dialect of SQL outside of the store", async () => {
    const found = await violations({
      "service/store/dialect.ts": "export const value = 1;\n",
      "service/store/queue.ts": 'export { value } from "./dialect";\n',
      "service/jobs/runner.ts": 'export { value } from "../store/dialect";\n',
    });
    expect(found).toEqual(["dialects-in-store-only: service/jobs/runner.ts → service/store/dialect.ts"]);
  });

  test("reject a new directory that has no layer", async () => {
    const found = await violations({
      "service/http/server.ts": 'export { value } from "../cellar/wine";\n',
      "service/cellar/wine.ts": value,
    });
    expect(found).toEqual([
      "service: every directory has a layer: service/http/server.ts → service/cellar/wine.ts",
    ]);
  });
});
