import { linkSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertOutputFile, projectFiles } from "../../../cli/terminal/output-file";

const directory = mkdtempSync(join(tmpdir(), "recommender-output-"));
afterAll(() => rmSync(directory, { recursive: true }));
const at = (name: string) => join(directory, name);

test("a command does not overwrite its own input, directly or through a link", () => {
  writeFileSync(at("queries.json"), "[]");
  symlinkSync(at("queries.json"), at("symbolic.json"));
  linkSync(at("queries.json"), at("hard.json"));
  for (const name of ["queries.json", "symbolic.json", "hard.json"])
    expect(() => assertOutputFile(at(name), [at("queries.json")])).toThrow(/is an input of this command/);
});

test("a command overwrites other files, such as its former output", () => {
  writeFileSync(at("result.json"), "{}");
  expect(() => assertOutputFile(at("result.json"), [at("queries.json")])).not.toThrow();
  expect(() => assertOutputFile(at("new.json"), [at("queries.json")])).not.toThrow();
});

test("the files that define a project and its stacks are inputs", () => {
  for (const name of ["Pulumi.yaml", "Pulumi.dev.yaml", "package.json", "drift.md"])
    writeFileSync(at(name), "");
  const inputs = projectFiles(directory);
  expect(() => assertOutputFile(at("Pulumi.dev.yaml"), inputs)).toThrow(/is not overwritten/);
  expect(() => assertOutputFile(at("drift.md"), inputs)).not.toThrow();
  expect(projectFiles(at("none"))).toEqual([]);
});
