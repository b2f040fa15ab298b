import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { run } from "../service/process";

interface Described {
  readonly path: string;
  readonly help: string;
  readonly groups: boolean;
  readonly options: readonly string[];
}

/** Every command there is, with its help as a terminal of 80 columns shows it. */
function everyCommand(): Described[] {
  const script = `
    const { createProgram } = require("./dist/cli/main.js");
    const all = (command, path) => command.commands.filter((one) => one.name() !== "complete").flatMap((one) => {
      let help = "";
      one.configureOutput({ writeOut: (text) => { help += text; } });
      one.outputHelp();
      const own = { path: path + one.name(), help, groups: one.commands.length > 0, options: one.options.map((o) => o.long) };
      return [own, ...all(one, own.path + " ")];
    });
    createProgram().then((program) => console.log(JSON.stringify(all(program, ""))));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", script], {
    cwd: join(__dirname, "../.."),
    encoding: "utf8",
  });
  if (stderr) throw new Error(stderr);
  return JSON.parse(stdout);
}

const commands = everyCommand();

test("all commands are there", () => {
  const paths = commands.map(({ path }) => path);
  const wanted = `serve status stop reset import datasets_list datasets_delete events_prune events_forget-user models_list models_get
    models_rename models_delete jobs_get jobs_wait query distribution cluster recommend whoami completion
    drift release promote rollback`;
  expect(paths).toEqual(expect.arrayContaining(wanted.split(/\s+/).map((path) => path.replace("_", " "))));
});

test.each(commands.map(({ path }) => path))("%s has help with examples, within 80 columns", (path) => {
  const { help } = commands.find((one) => one.path === path) as Described;
  expect(help).toMatch(/\nExamples:\n {2}(source <\()?recommender /);
  for (const line of help.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("every command that tells something has --json", () => {
  const without = commands.filter(({ groups, options }) => !groups && !options.includes("--json"));
  // Its output is a script for a shell.
  expect(without.map(({ path }) => path)).toEqual(["completion"]);
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
