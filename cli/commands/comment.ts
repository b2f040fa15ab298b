import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import type { TargetOptions } from "../comment/target";
import { wholeNumber } from "../terminal/option-values";
import { type OutputOptions, print, withJsonErrors } from "../terminal/output";

interface CommentOptions extends TargetOptions, OutputOptions {}

const help = `
Creates a comment on the pull request, or edits the one that an earlier run has
created. The hidden marker at the end of the file identifies it: one comment for
each stack. Works with the Markdown of \`review\`, \`drift\` and \`promote\`.

In a pipeline of GitHub or GitLab, the pull request is known. The token comes
from GITHUB_TOKEN, or for GitLab from GITLAB_COMMENT_TOKEN (scope: api). If the
pipeline is not for a pull request, or for one from a fork, nothing is posted.

Exit codes:
  0  the comment is up to date, or there is no pull request to comment on
  1  the command failed

Examples:
  recommender comment review.md
  recommender comment review.md --host github --repository shop/infra \\
    --pull-request 7`;

/** Adds `recommender comment`. */
export function addComment(program: Command): void {
  program
    .command("comment")
    .description("Post a review as a comment on a pull request, or edit it.")
    .argument("<file>", "Markdown of a review")
    .addOption(new Option("--host <name>", "where the repository is").choices(["github", "gitlab"]))
    .option("--repository <name>", "OWNER/NAME on GitHub, project on GitLab")
    .option("--pull-request <number>", "number of the pull or merge request", wholeNumber(1))
    .option("--json", "print the result as JSON")
    .addHelpText("after", help)
    .action((file: string, options: CommentOptions) => withJsonErrors(options, () => comment(file, options)));
}

async function comment(file: string, options: CommentOptions): Promise<void> {
  const { findTarget } = await import("../comment/target.js");
  const { upsertComment } = await import("../comment/upsert.js");
  const target = findTarget(options);
  if ("skipped" in target) return print(options, target, () => `${target.skipped}\n`);
  const posted = await upsertComment(target.comments, readFileSync(file, "utf8"));
  const at = posted.url ? `: ${posted.url}` : "";
  print(options, posted, () => `Comment ${posted.action} on ${target.comments.host}${at}\n`);
}
