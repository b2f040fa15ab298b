import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { engineOnPath } from "../../tools/engine/on-path.js";
import { isAtLeast } from "../../tools/engine/programs.js";
import { providedBin, temporaryDirectory } from "./provide";

const oldestVersion = "3.216.0";

async function directoryWith(version: string, companions: string[]): Promise<string> {
  const directory = await temporaryDirectory();
  for (const name of ["pulumi", ...companions]) {
    await writeFile(join(directory, name), `#!/bin/sh\necho ${version}\n`);
    await chmod(join(directory, name), 0o755);
  }
  return directory;
}

const companions = ["pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"];

describe("an engine on PATH", () => {
  test("is used when it is new enough and complete", () => {
    const engine = engineOnPath({ searchPath: `/nowhere:${providedBin()}`, oldestVersion });
    expect(engine).toMatchObject({ bin: providedBin(), source: "path" });
  });

  test("is found through a link in another directory", async () => {
    const directory = await temporaryDirectory();
    await symlink(join(providedBin(), "pulumi"), join(directory, "pulumi"));
    expect(engineOnPath({ searchPath: directory, oldestVersion }).bin).toBe(providedBin());
  });

  test("is not used if it is too old", async () => {
    const searchPath = await directoryWith("v3.99.0", companions);
    expect(() => engineOnPath({ searchPath, oldestVersion })).toThrow(
      /is version 3\.99\.0, older than 3\.216\.0/,
    );
  });

  test("is not used if the language host is missing", async () => {
    const searchPath = await directoryWith("v3.300.0", []);
    expect(() => engineOnPath({ searchPath, oldestVersion })).toThrow(/lacks pulumi-language-nodejs and/);
  });

  test("is not used if it does not run", async () => {
    const searchPath = await directoryWith("; exit 1", companions);
    expect(() => engineOnPath({ searchPath, oldestVersion })).toThrow(/version` failed/);
  });
});

test("`npm run engine -- --languages` ends with the directories of the engine and the language hosts", () => {
  const command = join(__dirname, "../../tools/engine.js");
  const said = execFileSync(process.execPath, [command, "--languages"], { encoding: "utf8" });
  const directories = said.trimEnd().split("\n").at(-1)?.split(delimiter) ?? [];
  for (const name of ["pulumi", "pulumi-language-nodejs", "pulumi-language-python", "pulumi-language-yaml"])
    expect([name, directories.some((directory) => existsSync(join(directory, name)))]).toEqual([name, true]);
});

test.each([
  ["3.216.0", true],
  ["3.216.1", true],
  ["3.1000.0", true],
  ["4.0.0", true],
  ["3.217.0-alpha.1", true],
  ["3.215.9", false],
  ["2.300.0", false],
])("%s is new enough: %s", (version, expected) => {
  expect(isAtLeast(version, oldestVersion)).toBe(expected);
});
