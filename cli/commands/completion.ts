import type { Command } from "commander";

const help = `
It completes commands, options and their fixed values, and files elsewhere,
wherever \`recommender\` is on the PATH. The one for bash needs the package
bash-completion.

Examples:
  source <(recommender completion bash)    # in ~/.bashrc
  source <(recommender completion zsh)     # in ~/.zshrc, after compinit
  recommender completion fish > ~/.config/fish/completions/recommender.fish`;

/** Adds `recommender completion`; comes last, for it completes what is there. */
export async function addCompletion(program: Command): Promise<void> {
  const { default: tab } = await import("@bomb.sh/tab/commander");
  const { ShellCompDirective } = await import("@bomb.sh/tab");
  const completer = tab(program, { completionCommandName: "completion" });
  const { ShellCompDirectiveDefault: files, ShellCompDirectiveNoFileComp: noFiles } = ShellCompDirective;
  // The library never lets a shell complete files; here they are what is meant wherever nothing else is.
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

/** The library's script, as a shell can read it again after an update, and with files completed in bash. */
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
  const again = "complete -o default -F __recommender_complete recommender\n";
  return script.replace(/^readonly /gm, "") + again;
}
