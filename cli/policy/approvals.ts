import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseJson } from "../../client/parse";
import type { History, Release } from "../release/history";
import { git } from "../stack/program";
import { commaSeparated } from "../terminal/option-values";
import type { StagePolicy } from "./schedule";

/** Maximum number of commits of a release file to search for signatures. */
const maxCommits = 100;

/** Returns who has approved a release, from the source that the policy names. */
export async function readApprovals(
  { approvals }: StagePolicy,
  source: Release | undefined,
  { path, environment }: { readonly path: string; readonly environment: NodeJS.ProcessEnv },
): Promise<string[]> {
  if (!approvals) return [];
  if (approvals.source === "environment") return commaSeparated(environment[approvals.variable] ?? "");
  return source ? signersOf(path, source) : [];
}

/**
 * Returns who has signed commits of the release file that contain the release as it is now. A signature under another
 * program or other contents is no approval. Signatures that Git does not trust are left out.
 */
async function signersOf(path: string, release: Release): Promise<string[]> {
  // Git reports real paths, but the directory may be a link.
  const directory = await realpath(dirname(path)).catch(() => undefined);
  if (directory === undefined) return [];
  const file = join(directory, basename(path));
  const root = (await git(directory, "rev-parse", "--show-toplevel")).trimEnd();
  const inRepository = relative(await realpath(root), file)
    .split(sep)
    .join("/");
  // %G? is G only for a good signature of a trusted key. %GS is the signer.
  const format = "--format=%H%x09%G?%x09%GS";
  const log = await git(directory, "log", `-${maxCommits}`, format, "--", `:(top,literal)${inRepository}`);
  const signers: string[] = [];
  for (const line of log.split("\n").filter(Boolean)) {
    const [commit = "", status, signer = ""] = line.split("\t");
    if (status !== "G" || !(await containsRelease(directory, `${commit}:${inRepository}`, release))) continue;
    // A GPG signer is `Ada <ada@example.com>`, an SSH signer only the address.
    signers.push(/<([^>]+)>\s*$/.exec(signer)?.[1] ?? signer);
  }
  return signers;
}

async function containsRelease(directory: string, object: string, release: Release): Promise<boolean> {
  const text = await git(directory, "show", object).catch(() => "");
  const entries = (parseJson(text) as Partial<History> | undefined)?.releases ?? [];
  return entries.some(
    ({ id, program, contents }) =>
      id === release.id &&
      isDeepStrictEqual(program, release.program) &&
      isDeepStrictEqual(contents, JSON.parse(JSON.stringify(release.contents ?? null)) ?? undefined),
  );
}
