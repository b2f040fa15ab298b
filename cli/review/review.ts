import { existsSync } from "node:fs";
import { join } from "node:path";
import { logicalName } from "../../provider/run/urn";
import { compareStack } from "../drift/compare";
import type { Finding, StackReport } from "../drift/finding";
import { readContents, resourcesOf } from "../release/contents";
import type { Quality } from "../release/history";
import { readTimeline, type TimelineEntry } from "../release/timeline";
import type { OpenStack, StateResource } from "../stack/open";
import { defined } from "../terminal/output";

/** Model of a stack, and what the change does to it. */
export interface ModelReview {
  readonly name: string;
  /** Id of the model. Absent if the change creates the model. */
  readonly modelId?: string;
  /** Names of the deployments that use the model. */
  readonly liveIn: readonly string[];
  readonly quality?: Quality;
  /** Duration of its last training, if the service has reported it. */
  readonly lastTrainingSeconds?: number;
  /** Whether the change trains the model, or trains it again. */
  readonly trains: boolean;
}

/** Review of what a change of the program does to a stack. */
export interface Review {
  readonly version: 1;
  readonly stack: string;
  readonly project: string;
  readonly report: StackReport;
  readonly models: readonly ModelReview[];
  /** Releases of the stack, oldest first. */
  readonly releases: readonly TimelineEntry[];
}

/**
 * Compares a stack with its program and its service, and adds quality and training times. Changes nothing.
 * @param directory directory of the release histories
 */
export async function reviewStack(open: OpenStack, directory: string): Promise<Review> {
  const [report, { resources }] = await Promise.all([compareStack(open), open.state()]);
  const { stack, project } = report;
  const hasHistory = existsSync(join(directory, `${stack.split("/").at(-1)}.json`));
  const releases = hasHistory ? await readTimeline(directory, { stack, cwd: open.location.cwd }) : [];
  return { version: 1, stack, project, report, models: modelsOf(report, resources), releases };
}

function modelsOf(report: StackReport, resources: readonly StateResource[]): ModelReview[] {
  const { models, deployments } = readContents(resources);
  const known = resourcesOf(resources, "Model");
  const existing = models.map(({ name, modelId, quality }) => {
    const trainedMs = known.find(({ urn }) => logicalName(urn) === name)?.outputs?.__trainedMs;
    const users = deployments.filter(({ generator, ranker }) =>
      [generator.modelId, ranker?.modelId].includes(modelId),
    );
    return {
      name,
      modelId,
      liveIn: users.map((deployment) => deployment.name),
      trains: report.changes.some((finding) => isTraining(finding) && finding.resource.name === name),
      ...defined({
        quality,
        lastTrainingSeconds: typeof trainedMs === "number" ? trainedMs / 1000 : undefined,
      }),
    };
  });
  const created = report.changes
    .filter((finding) => isTraining(finding) && !models.some(({ name }) => name === finding.resource.name))
    .map(({ resource }) => ({ name: resource.name, liveIn: [], trains: true }));
  return [...existing, ...created];
}

/** Whether a change trains a model. */
function isTraining({ kind, resource }: Finding): boolean {
  return resource.type === "Model" && (kind === "created" || kind === "replaced");
}
