import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { masked, pages, renewed, unmarkedIn, withFiles, workplace } from "../../tools/docs";

const read = (page: string) => readFileSync(join(__dirname, "../..", page), "utf8");
const isThere = (path: string) => ["", ".ts"].some((end) => existsSync(join(__dirname, "../..", path + end)));

test("every block with output has a comment with the commands that print it", () => {
  expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/cli.md"]));
  expect(pages.flatMap((page) => unmarkedIn(read(page)).map((block) => `${page}: ${block}`))).toEqual([]);
});

test("every file and directory that a page mentions exists", () => {
  const named =
    /(?<![\w./-])(?:contract|client|records|provider|service|cli|tools|test|bench)\/[\w./-]*\w(?![\w/])/g;
  const missing = [...pages, "CONTRIBUTING.md", "SECURITY.md"].flatMap((page) =>
    [...read(page).matchAll(named)]
      .map(([path]) => path)
      // NOUN is a placeholder.
      .filter((path) => !/[A-Z]/.test(path) && !isThere(path))
      .map((path) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
});

test("pages show the current content of files, including the quick start in five languages; `npm run docs` updates them", () => {
  expect(pages.filter((page) => withFiles(read(page)) !== read(page))).toEqual([]);
  const shown = [...read("docs/languages.md").matchAll(/^<!-- file (examples\S+) -->$/gm)].map(
    ([, file]) => file,
  );
  expect(shown).toEqual([
    ...["examples/quickstart/index.ts", "examples/python/__main__.py", "examples/yaml/Pulumi.yaml"],
    ...["examples/go/go.mod", "examples/go/main.go"],
    ...["examples/java/pom.xml", "examples/java/src/main/java/recordshop/App.java"],
  ]);
  const outdated = "<!-- file LICENSE -->\n\n```text\nwhat it was\n```\n";
  expect(withFiles(outdated)).toBe(`<!-- file LICENSE -->\n\n\`\`\`text\n${read("LICENSE")}\`\`\`\n`);
});

test("the output of commands that need no stack is up to date", () => {
  const place = workplace("");
  const page = read("docs/cli.md");
  const [help = ""] = page.match(/^<!-- docs\n\$ recommender --help\n-->\n+```\n[\s\S]*?^```$/m) ?? [];
  expect(help).toContain("Usage: recommender");
  expect(renewed(help, place.run)).toBe(help);
  place.close();
});

test("the program in the README keeps replaced models, so its first rollback has one to deploy", () => {
  const [, program = ""] = read("README.md").match(/^```ts\n([\s\S]*?)^```$/m) ?? [];
  const [, model = ""] = program.match(/new recommender\.Model\(([\s\S]*?)\n\);/) ?? [];
  expect(model).toContain("{ retainOnDelete: true }");
});

describe("an updated page", () => {
  const printed: Record<string, string> = {
    ready: "",
    "ls x": "one\n",
    "cat y": "made model-0123456789abcdef0123\n",
  };
  const run = (command: string) => printed[command] ?? `?${command}\n`;
  const block = (comment: string, body: string) =>
    `text\n\n<!-- docs${comment}-->\n\n\`\`\`console\n${body}\`\`\`\n`;

  test("shows the current output after each command", () => {
    expect(renewed(block("\n$ ready\n", "$ ls x\nold\n$ cat y\n"), run)).toBe(
      block("\n$ ready\n", `$ ls x\none\n$ cat y\n${printed["cat y"]}`),
    );
  });

  test("shows the output of the last hidden command in a block without commands", () => {
    const page = (body: string) => `<!-- docs\n$ ready\n$ ls x\n-->\n\n\`\`\`\n${body}\`\`\`\n`;
    expect(renewed(page("old\n"), run)).toBe(page("one\n"));
  });

  test("does not change if only ids and times differ, nor in other blocks", () => {
    const page = block(" ", "$ cat y\nmade model-aaaaaaaaaaaaaaaaaaaa\n");
    expect(renewed(page, run)).toBe(page);
    expect(renewed("```console\n$ ls x\n```\n", run)).toBe("```console\n$ ls x\n```\n");
    expect(masked("job-0123456789abcdef0123 at 2026-11-15T10:00:00Z")).toBe("job-ID at DATE");
  });
});

test("output without a comment is reported", () => {
  expect(
    unmarkedIn("```\nby hand\n```\n\n```sh\nls\n```\n\n<!-- docs -->\n\n```console\n$ ls\n```\n"),
  ).toEqual(["by hand\n"]);
});
