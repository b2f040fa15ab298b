import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { command, run } from "../../service/process";
import { type Described, everyCommand } from "../every-command";

const { help: wholeHelp, commands } = everyCommand();
const page = readFileSync(join(__dirname, "../../../docs/cli.md"), "utf8");

test("every command is registered", () => {
  const paths = commands.map(({ path }) => path);
  const wanted = `serve status stop reset import datasets_list datasets_delete events_prune events_forget-user users_forget orphans_list orphans_delete models_list models_get
    models_rename models_delete jobs_get jobs_wait query distribution cluster recommend batch whoami completion
    shutdown interrupted export restore drift release releases promote rollback retrain watch clients_add clients_list clients_update
    clients_revoke`;
  expect(paths).toEqual(expect.arrayContaining(wanted.split(/\s+/).map((path) => path.replace("_", " "))));
});

test.each(commands.map(({ path }) => path))("%s has help with examples, within 80 columns", (path) => {
  const { help } = commands.find((one) => one.path === path) as Described;
  expect(help).toMatch(/\nExamples:\n {2}(source <\()?recommender /);
  for (const line of help.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("every command that prints an outcome has --json", () => {
  const without = commands.filter(({ groups, options }) => !groups && !options.includes("--json"));
  // Prints a shell script.
  expect(without.map(({ path }) => path)).toEqual(["completion"]);
});

describe("docs/cli.md", () => {
  const withJson = commands.filter(({ options }) => options.includes("--json")).map(({ path }) => path);
  /** Returns the commands in the first column of the table that has another column with this heading. */
  const commandsIn = (heading: string) => {
    const [, rows = ""] = page.split(`| command | ${heading} |\n|---|---|\n`);
    const lines = rows.slice(0, rows.indexOf("\n\n")).split("\n");
    return lines.flatMap((line) =>
      [...(line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    );
  };

  test("shows the current help", () => {
    for (const line of wholeHelp.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(page).toContain(`\n${wholeHelp}`);
  });

  test("describes the JSON of every command with --json", () => {
    expect(
      commandsIn("JSON")
        .filter((name) => !name?.startsWith("--"))
        .sort(),
    ).toEqual([...withJson].sort());
  });

  test("lists the exit codes of every command", () => {
    const [, codes = ""] = page.split("\n## Exit codes\n");
    const rows = codes.slice(0, codes.indexOf("\n## ")).split("\n");
    for (const { path, help } of commands) {
      const [, own = ""] = help.split("\nExit codes:\n");
      for (const [, code] of own.matchAll(/^ {2}(\d+) {2}/gm)) {
        const row = rows.filter((line) => line.startsWith(`| ${code} |`)).join("\n");
        if (!row.endsWith(" | all |"))
          expect({ path, code, row }).toMatchObject({ row: expect.stringContaining(`\`${path}\``) });
      }
    }
  });
});

test("commands and output in the docs fit into 80 columns", () => {
  const root = join(__dirname, "../../..");
  const docs = readdirSync(join(root, "docs")).filter((file) => file.endsWith(".md"));
  const long = ["README.md", ...docs.map((file) => `docs/${file}`)].flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)]
      .filter(([, form = ""]) => ["", "sh", "console"].includes(form))
      .flatMap(([, , screen = ""]) => screen.split("\n"))
      .filter((line) => line.length > 80)
      .map((line) => `${file}: ${line}`),
  );
  expect(long).toEqual([]);
});

test("a shell completes commands, options, fixed values and, elsewhere, files", async () => {
  const completed = async (...words: string[]) => {
    const { out } = await run("complete", "--", ...words);
    const lines = out.trimEnd().split("\n");
    return { files: lines.pop() === ":0", values: lines.map((line) => line.split("\t")[0]) };
  };
  expect((await completed("")).values).toEqual(expect.arrayContaining(["import", "models", "whoami"]));
  expect((await completed("models", "")).values).toEqual(expect.arrayContaining(["list", "delete"]));
  expect((await completed("import", "users", "--par")).values).toEqual(["--parallel"]);
  expect(await completed("import", "")).toEqual({ files: false, values: ["users", "items", "events"] });
  expect((await completed("import", "users", "--format", "")).values).toContain("parquet");
  expect(await completed("import", "users", "")).toEqual({ files: true, values: [] });
});

test.each(["bash", "zsh", "fish"])("completion %s prints a script that asks the command", async (shell) => {
  const { code, out, err } = await run("completion", shell);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toContain("recommender complete --");
});

test("the built command can be run by its name, as npx does", () => {
  expect(statSync(command).mode & 0o111).toBe(0o111);
});
