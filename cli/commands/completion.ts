import type { Command } from "commander";

const help = `
Completes commands, options, their fixed values and file names. \`recommender\`
must be on PATH. In bash, install the package bash-completion first.

Examples:
  source <(recommender completion bash)    # in ~/.bashrc
  source <(recommender completion zsh)     # in ~/.zshrc, after compinit
  recommender completion fish > ~/.config/fish/completions/recommender.fish`;

/** Adds `recommender completion`. Call it after all other commands are added, because it completes only those. */
export async function addCompletion(program: Command): Promise<void> {
  const { default: tab } = await import("@bomb.sh/tab/commander");
  const { ShellCompDirective } = await import("@bomb.sh/tab");
  const completer = tab(program, { completionCommandName: "completion" });
  const { ShellCompDirectiveDefault: files, ShellCompDirectiveNoFileComp: noFiles } = ShellCompDirective;
  // The library never completes file names. Let the shell complete them if the library has no completions.
  Object.defineProperty(completer, "directive", {
    get: () => (completer.completions.length > 0 ? noFiles : files),
    set: () => undefined,
  });
  const [added] = program.commands.filter((command) => command.name() === "completion");
  added
    ?.description("Print a script that completes commands in a shell.")
    .addHelpText("after", help)
    .action((shell: string) => {
      process.stdout.write(scriptFor(shell, () => completer.setup(program.name(), program.name(), shell)));
    });
}

/** Returns the library's script. The bash script is changed: it can be sourced twice, and it completes file names. */
function scriptFor(shell: string, printScript: () => void): string {
  let script = "";
  const { log } = console;
  console.log = (text: string) => {
    script += `${text}\n`;
  };
  try {
    printScript();
  } finally {
    console.log = log;
  }
  if (shell !== "bash") return script;
  const withFiles = "complete -o default -F __recommender_complete recommender\n";
  return script.replace(/^readonly /gm, "") + withFiles;
}
