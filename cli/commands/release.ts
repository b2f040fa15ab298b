import { relative, resolve } from "node:path";
import { type Command, Option } from "commander";
import { type BlockerCode, blockerCodes } from "../release/gate";
import { exitCodes } from "../terminal/exit";
import { wrapText } from "../terminal/layout";
import { note, print } from "../terminal/output";

interface ReleaseOptions {
  readonly cwd: string;
  readonly releases?: string;
  readonly allow: BlockerCode[];
  readonly json?: true;
}

const help = `
Commit the file. It lists the versions, the commit of the program,
the hashes of the records, the parameters, quality and ids of the models, what
serves, and the results of the checks. It holds no secret.

Exit codes:
  0  the release is written, or the newest one still describes the stack
  1  something went wrong
  2  it is refused; the reasons are listed

Examples:
  recommender release dev
  recommender release dev --allow uncommitted`;

/** Adds `recommender release`. */
export function addRelease(program: Command): void {
  program
    .command("release")
    .description("Write down what a stack runs into releases/STACK.json, once it has proven itself.")
    .argument("<stack>", "stack to be released")
    .addOption(cwdOption())
    .addOption(releasesOption())
    .addOption(allowOption())
    .option("--json", "print the release as JSON")
    .addHelpText("after", help)
    .action(run);
}

async function run(stack: string, options: ReleaseOptions): Promise<void> {
  const { startEntry, gatherEvidence } = await import("../release/evidence.js");
  const { ReleaseFile } = await import("../release/history.js");
  const { OpenStack } = await import("../stack/open.js");
  const { releaseBlockers, differs, sameContents } = await import("../release/gate.js");
  const { programDifference } = await import("../stack/program.js");
  const open = await OpenStack.open({ cwd: options.cwd, stack });
  const folder = releasesDirectory(options);
  const file = await ReleaseFile.open(folder, { project: open.project, stack });
  const evidence = await gatherEvidence(open, folder);
  const reasons = releaseBlockers(evidence);
  const refused = reasons.filter(({ code }) => !options.allow.includes(code));
  if (refused.length > 0) {
    const lines = refused.map(({ code, words, fix }) =>
      wrapText(`${code}: ${words}. To fix it, ${fix}; or --allow ${code}.`, "- ", "  "),
    );
    note(`${stack} is not released:\n${lines.join("\n")}`);
    process.exitCode = exitCodes.rejected;
    return;
  }
  const { latest } = file;
  const { commit: to } = evidence.program;
  const from = latest?.program.commit;
  const difference =
    from && to ? await programDifference(from, { cwd: options.cwd, releases: folder, to }) : undefined;
  const isSameProgram = difference === undefined || !differs(difference);
  if (latest?.contents && isSameProgram && sameContents(latest.contents, evidence.contents)) {
    print(options, latest, () => `Release ${latest.id} still describes ${stack}\n`);
    return;
  }
  const began = startEntry(open, evidence.program);
  const release = await file.add({
    ...{ action: "release", status: "done", ...began, endedAt: began.beganAt },
    ...(reasons.length > 0 && { allowed: reasons.map(({ code }) => code) }),
    contents: evidence.contents,
  });
  const where = relative(process.cwd(), file.path);
  print(options, release, () => `Release ${release.id} is written to ${where}: commit it\n`);
}

/** The option of all three commands for the folder of the program. */
export function cwdOption(): Option {
  return new Option("--cwd <dir>", "folder of the Pulumi program").default(".");
}

/** The option for the folder of the histories. */
export function releasesOption(): Option {
  return new Option(
    "--releases <dir>",
    "folder of the histories; releases in the program's folder unless given",
  );
}

/** The option that overrules reasons, one by one. */
export function allowOption(): Option {
  return new Option("--allow <reason>", "overrule a reason against it; may be repeated")
    .choices([...blockerCodes])
    .argParser((value: string, earlier: string[]) => {
      if (!blockerCodes.some((code) => code === value)) {
        throw new Error(`--allow ${value}: expected one of ${blockerCodes.join(", ")}`);
      }
      return [...earlier, value];
    })
    .default([], "none");
}

/** Where the histories are. */
export function releasesDirectory({ cwd, releases }: { cwd: string; releases?: string }): string {
  return releases === undefined ? resolve(cwd, "releases") : resolve(releases);
}
