import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const tools = join(__dirname, "../../tools");

describe("the build before the tests", () => {
  const root = mkdtempSync(join(tmpdir(), "build-"));
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  const source = join(root, "cli/main.ts");
  const built = () => readFileSync(join(root, "dist/cli/main.js"), "utf8");
  /** A compiler that copies the source, unless it fails before it writes anything. */
  const compileWith = (exitCode: number, writes = true) =>
    write(
      "node_modules/typescript/bin/tsc",
      `${writes ? 'require("fs").cpSync("cli/main.ts", "dist/cli/main.js");' : ""} process.exit(${exitCode});`,
    );
  const edit = (text: string, seconds: number) => {
    writeFileSync(source, text);
    utimesSync(source, seconds, seconds);
  };
  const { buildForTests } = (() => {
    for (const name of ["setup.js", "command.js"]) cpSync(join(tools, name), join(root, "tools", name));
    write("tools/console.js", "exports.buildConsole = async () => {};");
    write("node_modules/typescript/package.json", "{}");
    write("cli/main.ts", "");
    return require(join(root, "tools/setup.js")) as { buildForTests(): Promise<void> };
  })();
  beforeEach(() => {
    jest.spyOn(console, "error").mockReturnValue();
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => rmSync(root, { recursive: true }));

  test("builds again after one with errors, even if the sources are as they were before", async () => {
    edit("first", 1);
    compileWith(0);
    await buildForTests();
    edit("second, with an error", 2);
    compileWith(2);
    await buildForTests();
    expect(built()).toBe("second, with an error");
    edit("first", 1);
    compileWith(0);
    await buildForTests();
    expect(built()).toBe("first");
  });

  test("fails if the compiler wrote nothing, instead of testing the build before", async () => {
    edit("third", 3);
    compileWith(1, false);
    await expect(buildForTests()).rejects.toThrow(/tsc .* failed with exit code 1/);
    expect(existsSync(join(root, "dist/.sources.json"))).toBe(false);
  });
});
