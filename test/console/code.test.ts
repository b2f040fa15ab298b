import { execFileSync } from "node:child_process";
import ts from "typescript";
import { parse } from "yaml";
import { command, declarations, invocation, shellWord } from "../../console/parts/code";

/** Prints a word with bash. */
const inBash = (text: string) => execFileSync("bash", ["-c", `printf %s ${text}`], { encoding: "utf8" });

test("a shell reads back each quoted word, which has no characters that a terminal acts on", () => {
  const texts = [
    "plain",
    "=ls",
    "it's",
    "a\u0015rm -rf ~\n!! \\x41 'q'",
    "\u001b[A7",
    "\u202Etxt\u200B é😀\u009b",
  ];
  for (const text of texts) {
    expect(inBash(shellWord(text))).toBe(text);
    expect(shellWord(text)).not.toMatch(/[\p{Cc}\u202E\u200B]/u);
  }
  expect(command("recommend", { "serving-uri": "a\nb" }, "c\rd")).not.toMatch(/\p{Cc}/u);
});

test("texts that look like references or functions of Pulumi's YAML stay texts", () => {
  // Pulumi reads two dollar signs as one.
  const read = (text: string) => text.replaceAll("$$", () => "$");
  for (const userId of [`\${users.id}`, `$\${users.id}`, "$$$", "$5"]) {
    const { forUser } = parse(invocation("forUser", "recommend", { userId }).YAML as string).variables;
    const written = forUser["fn::invoke"].arguments.userId as string;
    expect([written.replaceAll("$$", ""), read(written)]).toEqual([expect.not.stringContaining("$"), userId]);
  }
  const attributeSchema = { "fn::readFile": "CATEGORICAL" };
  const { YAML, Python } = declarations([
    { type: "UserDataset", name: "users", fields: { numShards: 1, attributeSchema } },
    { type: "ItemDataset", name: "items", fields: { numShards: 1, attributeSchema: { a: "CATEGORICAL" } } },
  ]);
  expect(parse(YAML as string)).toMatchObject({
    users: { properties: { numShards: 1 } },
    items: { properties: { attributeSchema: { a: "CATEGORICAL" } } },
  });
  expect(parse(YAML as string).users.properties).not.toHaveProperty("attributeSchema");
  expect(YAML).toContain('# Left out: attributeSchema of "users", because YAML');
  expect(Python).toContain("fn::readFile");
});

test("arbitrary names become valid variables and resource names", () => {
  const names = ["eval", "arguments", "implements", "exports", "require", "module", "undefined", "pulumi"];
  const { TypeScript } = declarations(names.map((name) => ({ type: "Model", name, fields: {} })));
  const { diagnostics } = ts.transpileModule(TypeScript as string, {
    reportDiagnostics: true,
    compilerOptions: { alwaysStrict: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS },
  });
  expect(diagnostics).toEqual([]);
  for (const name of names) expect(TypeScript).not.toMatch(new RegExp(`const ${name} `));
  const nameOf = (name: string) => {
    const [, text = ""] =
      /Model\((".*"), \{/.exec(declarations([{ type: "Model", name, fields: {} }]).TypeScript ?? "") ?? [];
    return JSON.parse(text) as string;
  };
  expect([nameOf("a::::b"), nameOf("a:::b")]).toEqual(["a:b", "a:b"]);
  expect(nameOf(`${"x".repeat(99)}😀`)).toBe("x".repeat(99));
});
