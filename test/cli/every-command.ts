import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** Help and options of a command. */
export interface Described {
  readonly path: string;
  readonly help: string;
  readonly groups: boolean;
  readonly options: readonly string[];
}

/** Returns the help of the program and of all commands, for a terminal of 80 columns. */
export function everyCommand(): { help: string; commands: Described[] } {
  const script = `
    const { createProgram } = require("./dist/cli/main.js");
    const helpOf = (command) => {
      let help = "";
      command.configureOutput({ writeOut: (text) => { help += text; }, getOutHelpWidth: () => 80 });
      command.outputHelp();
      return help;
    };
    const all = (command, path) => command.commands.filter((one) => one.name() !== "complete").flatMap((one) => {
      const own = {
        path: path + one.name(),
        help: helpOf(one),
        groups: one.commands.length > 0,
        options: one.options.map(({ long }) => long),
      };
      return [own, ...all(one, own.path + " ")];
    });
    createProgram().then((program) => {
      console.log(JSON.stringify({ help: helpOf(program), commands: all(program, "") }));
    });`;
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", script], {
    cwd: join(__dirname, "../.."),
    encoding: "utf8",
  });
  if (stderr) throw new Error(stderr);
  return JSON.parse(stdout);
}
