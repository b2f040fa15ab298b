import type { Command } from "commander";

const help = `
It completes commands, options and their fixed values wherever \`recommender\` is
on the PATH.

Examples:
  source <(recommender completion bash)              # in ~/.bashrc
  source <(recommender completion zsh)               # in ~/.zshrc, after compinit
  recommender completion fish > ~/.config/fish/completions/recommender.fish`;

/** Adds `recommender completion`; comes last, for it completes what is there. */
export async function addCompletion(program: Command): Promise<void> {
  const { default: tab } = await import("@bomb.sh/tab/commander");
  tab(program, { completionCommandName: "completion" });
  const [added] = program.commands.filter((command) => command.name() === "completion");
  added?.description("Print a script that completes commands in a shell.").addHelpText("after", help);
}
