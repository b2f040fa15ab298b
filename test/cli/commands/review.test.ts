import { Command } from "commander";
import { addReview } from "../../../cli/commands/review";

test("review rejects conditions that it can never find", async () => {
  const program = new Command();
  addReview(program);
  for (const command of program.commands)
    command.exitOverride().configureOutput({ writeErr: () => undefined });
  const rejected = program.parseAsync(["node", "recommender", "review", "--fail-on", "drift,new"]);
  await expect(rejected).rejects.toThrow(
    /Expected one or more of drift, changes, replace, unmanaged, orphans, none, comma-separated/,
  );
});
