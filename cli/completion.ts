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
    .hook("postAction", (_, { args: [shell] }) => {
      const again = "complete -o default -F __recommender_complete recommender\n";
      if (shell === "bash") process.stdout.write(again);
    });
}
