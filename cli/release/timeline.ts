import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { authorOf } from "../stack/author";
import { defined } from "../terminal/output";
import { type Contents, type History, type Quality, type Release, readHistory } from "./history";

/** Quality of a deployed model. */
export interface DeployedQuality {
  readonly deployment: string;
  readonly modelId: string;
  /** Logical name of the model in the program. Absent for a pinned model. */
  readonly model?: string;
  readonly quality?: Quality;
}

/** One release, promotion, rollback or retraining, in the timeline of all stacks. */
export interface TimelineEntry
  extends Pick<Release, "id" | "action" | "status" | "beganAt" | "endedAt" | "from" | "reason"> {
  readonly project: string;
  readonly stack: string;
  /** Who ran the command, or else the author of the commit. */
  readonly author?: string;
  readonly commit: string | null;
  /** Whether the program had uncommitted changes. */
  readonly dirty: boolean;
  /** The models that were live at the end. */
  readonly deployed: readonly DeployedQuality[];
  /** Results of the checks, by deployment. */
  readonly checks: Readonly<Record<string, string>>;
  /** Blocking issues that were allowed with `--allow`. */
  readonly allowed: readonly string[];
  /** Gates of the policy, and whether they were open or overridden. */
  readonly gates: NonNullable<Release["gates"]>;
}

/** Reads the histories of one or all stacks. Returns their entries, oldest first. */
export async function readTimeline(
  directory: string,
  { stack, cwd }: { readonly stack: string | undefined; readonly cwd: string },
): Promise<TimelineEntry[]> {
  const histories = await readHistories(directory, stack);
  const authors = new Map<string, string | undefined>();
  const unknown = histories.flatMap(({ releases }) => releases).filter(({ author }) => author === undefined);
  for (const { program } of unknown) {
    const { commit } = program;
    if (commit && !authors.has(commit)) authors.set(commit, await authorOf(cwd, commit));
  }
  const entries = histories.flatMap((history) => {
    const known = knownQuality(history);
    return history.releases.map((release): TimelineEntry => {
      const { id, action, status, beganAt, endedAt, from, reason, program, contents } = release;
      const author = release.author ?? authors.get(program.commit ?? "");
      return {
        project: history.project,
        stack: history.stack,
        id,
        action,
        status,
        beganAt,
        ...defined({ endedAt, from, reason, author }),
        commit: program.commit,
        dirty: program.dirty,
        deployed: (contents?.deployments ?? []).map((one) => deployedQuality(one, known)),
        checks: Object.fromEntries(
          (contents?.deployments ?? []).flatMap(({ name, check }) => (check ? [[name, check.result]] : [])),
        ),
        allowed: release.allowed ?? [],
        gates: release.gates ?? [],
      };
    });
  });
  return entries.sort((one, other) => Date.parse(one.beganAt) - Date.parse(other.beganAt));
}

async function readHistories(directory: string, stack: string | undefined): Promise<History[]> {
  const found = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const names = found.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
  const own = stack?.split("/").at(-1);
  if (own !== undefined && !names.includes(own)) {
    const known = names.length > 0 ? `Stacks with a history: ${names.sort().join(", ")}.` : "";
    const fix = `Write its first release with \`recommender release ${stack}\`.`;
    throw new Error(`Stack ${stack} has no release history in ${directory}. ${known || fix}`);
  }
  return Promise.all(
    (own === undefined ? names.sort() : [own]).map((name) => readHistory(join(directory, `${name}.json`))),
  );
}

/** Returns the quality of all models of a history. A rollback deploys models that its own entry does not list. */
function knownQuality({ releases }: History): ReadonlyMap<string, Quality> {
  const models = releases.flatMap(({ contents, before }) => [
    ...(contents?.models ?? []),
    ...[...(contents?.deployments ?? []), ...(before ?? [])].map(({ generator }) => generator),
  ]);
  return new Map(models.flatMap(({ modelId, quality }) => (quality ? [[modelId, quality] as const] : [])));
}

function deployedQuality(
  { name, generator }: Contents["deployments"][number],
  known: ReadonlyMap<string, Quality>,
): DeployedQuality {
  const { modelId, model } = generator;
  return { deployment: name, modelId, ...defined({ model, quality: known.get(modelId) }) };
}
