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
Commit the file. It lists the versions, the program's commit, hashes of the
records, parameters, quality and ids of the models, the deployments, and the
results of their checks. It contains no secrets.

Exit codes:
  0  the release is written, or the newest release still matches the stack
  1  the command failed
  2  the release is blocked; the reasons are listed

Examples:
  recommender release dev
  recommender release dev --allow uncommitted`;

/** Adds `recommender release`. */
export function addRelease(program: Command): void {
  program
    .command("release")
    .description("Record what a stack runs in releases/STACK.json, if all its checks pass.")
    .argument("<stack>", "stack to release")
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
  const directory = releasesDirectory(options);
  const file = await ReleaseFile.open(directory, { project: open.project, stack });
  const evidence = await gatherEvidence(open, directory);
  const reasons = releaseBlockers(evidence);
  const blocking = reasons.filter(({ code }) => !options.allow.includes(code));
  if (blocking.length > 0) {
    const lines = blocking.map(({ code, words, fix }) =>
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
    from && to ? await programDifference(from, { cwd: options.cwd, releases: directory, to }) : undefined;
  const isSameProgram = difference === undefined || !differs(difference);
  if (latest?.contents && isSameProgram && sameContents(latest.contents, evidence.contents)) {
    print(options, latest, () => `Release ${latest.id} still matches ${stack}\n`);
    return;
  }
  const began = await startEntry(open, evidence.program);
  const release = await file.add({
    action: "release",
    status: "done",
    ...began,
    endedAt: began.beganAt,
    ...(reasons.length > 0 && { allowed: reasons.map(({ code }) => code) }),
    contents: evidence.contents,
  });
  const path = relative(process.cwd(), file.path);
  print(options, release, () => `Wrote release ${release.id} to ${path}. Commit the file.\n`);
}

/** Option of `release`, `promote` and `rollback` for the program's directory. */
export function cwdOption(): Option {
  return new Option("--cwd <dir>", "directory of the Pulumi program").default(".");
}

/** Option for the directory of the release histories. */
export function releasesOption(): Option {
  return new Option("--releases <dir>", "directory of the release histories (default: releases in --cwd)");
}

/** Option that lets a command continue despite a blocking issue. */
export function allowOption(codes: readonly BlockerCode[] = blockerCodes): Option {
  return new Option("--allow <reason>", "allow a blocking issue; may be repeated")
    .choices([...codes])
    .argParser((value: string, earlier: string[]) => {
      if (!codes.some((code) => code === value)) {
        throw new Error(`--allow ${value}: expected one of ${codes.join(", ")}`);
      }
      return [...earlier, value];
    })
    .default([], "none");
}

/** Returns the directory of the release histories. */
export function releasesDirectory({ cwd, releases }: { cwd: string; releases?: string }): string {
  return releases === undefined ? resolve(cwd, "releases") : resolve(releases);
}
