import { limits } from "../../../contract";
import type { DatasetSummary, JobRow } from "../rows";
import type { OverviewProject } from "./project";

/** A problem that needs attention, with the next step. */
export interface Attention {
  readonly level: "bad" | "warn" | "hint";
  readonly title: string;
  readonly text: string;
  /** Link to a screen. */
  readonly href?: string;
}

const dayMs = 24 * 3_600_000;

/** A live model that is older gets a hint if there are new events. */
const oldMs = 30 * dayMs;

const formatNumber = (count: number) => count.toLocaleString("en");

/** Returns the problems that need attention, the most severe first. */
export function findAttention({
  projects,
  datasets,
  failed,
  refused,
  now,
}: {
  readonly projects: readonly OverviewProject[];
  readonly datasets: readonly DatasetSummary[];
  readonly failed: readonly JobRow[];
  readonly refused: readonly (Pick<DatasetSummary, "id" | "kind" | "name" | "records"> & {
    reason: string;
  })[];
  /** Time in milliseconds since 1970. */
  readonly now: number;
}): Attention[] {
  const found: Attention[] = failed.slice(0, 5).map((job) => ({
    level: "bad",
    title: `${jobTitle(job.type)} ${job.name} failed`,
    text: job.message ?? "The reason is not known.",
    href: `#/jobs/${job.id}`,
  }));
  for (const { id, kind, name, records, capacity } of datasets) {
    if (records < capacity * 0.9) continue;
    found.push({
      level: records >= capacity ? "bad" : "warn",
      title: `The ${kind} dataset ${name} is ${Math.floor((100 * records) / capacity)} % full`,
      text: `It has ${formatNumber(records)} of ${formatNumber(capacity)} records (${formatNumber(limits.recordsPerShard)} per shard). A full dataset rejects new records. Create a dataset with more shards.`,
      href: `#/datasets/${id}`,
    });
  }
  for (const { id, kind, name, records, reason } of refused)
    found.push({
      level: "warn",
      title: `The ${kind} dataset ${name} rejected ${records === 1 ? "1 record" : `${formatNumber(records)} records`} since yesterday`,
      text: `For example: ${reason}${/[.?!]$/.test(reason) ? "" : "."}`,
      href: `#/datasets/${id}`,
    });
  for (const project of projects) found.push(...projectAttention(project, now));
  const order = ["bad", "warn", "hint"];
  return found.sort((a, b) => order.indexOf(a.level) - order.indexOf(b.level));
}

function projectAttention(project: OverviewProject, now: number): Attention[] {
  const { name, newest, deployment, isTraining } = project;
  const gone = project.datasets.find((dataset) => "isDeleted" in dataset);
  if (gone)
    return [
      {
        level: "warn",
        title: `The ${gone.kind} dataset of ${name} was deleted`,
        text: "Existing models keep working, but new models cannot be trained. Create a project with another dataset.",
      },
    ];
  const events = project.datasets[2];
  const isEmpty = events !== undefined && "records" in events && events.records === 0;
  if (!newest)
    return isTraining
      ? []
      : [
          {
            level: "hint",
            title: `${name} has no ${isEmpty ? "events" : "model"} yet`,
            text: isEmpty
              ? "Models learn from events. Declare UserRecords, ItemRecords and EventRecords in the program, or add records with recommender import."
              : "Declare an Algorithm and a Model in the program and run pulumi up.",
            ...(isEmpty && { href: "#/datasets" }),
          },
        ];
  if (!deployment)
    return [
      {
        level: "hint",
        title: `${name} is not deployed`,
        text: `The model ${newest.name} is trained. Declare a Deployment to make it live.`,
        href: "#/serving",
      },
    ];
  const found: Attention[] = [];
  if (!deployment.isLoaded)
    found.push({
      level: "warn",
      title: `The models of ${name} are not loaded`,
      text: "They are still loading, or loading failed. See the log of the service for the reason.",
      href: "#/serving",
    });
  const { generator, eventsSince: since } = deployment;
  const { ndcgAt20, popularityNdcgAt20 } = generator?.quality ?? {};
  if (ndcgAt20 != null && popularityNdcgAt20 != null && ndcgAt20 < popularityNdcgAt20)
    found.push({
      level: "warn",
      title: `The live model of ${name} is worse than popular items`,
      text: `NDCG@20 of ${generator?.name} is ${ndcgAt20.toFixed(3)}; that of popular items is ${popularityNdcgAt20.toFixed(3)}.`,
      href: `#/models/${generator?.id}`,
    });
  if (since && events && "records" in events && since.count > 0.1 * events.records && since.count >= 100)
    found.push({
      level: "warn",
      title: `${formatNumber(since.count)}${since.isMore ? " or more" : ""} events since the live model of ${name} was trained`,
      text: "Recommendations already use new events. Train a new model to learn from them as well, for example with recommender retrain.",
      href: "#/models",
    });
  else if (generator && since && since.count > 0 && now - generator.createdTs > oldMs)
    found.push({
      level: "hint",
      title: `The live model of ${name} is ${Math.floor((now - generator.createdTs) / dayMs)} days old`,
      text: "New events have arrived since it was trained. recommender retrain trains a new model and deploys it.",
      href: "#/models",
    });
  if (generator && newest.id !== generator.id && newest.createdTs > generator.createdTs)
    found.push({
      level: "hint",
      title: `A newer model of ${name} is not deployed`,
      text: `${newest.name} is newer than the live model ${generator.name}. Compare them before you deploy it.`,
      href: `#/models/${newest.id}/${generator.id}`,
    });
  return found;
}

function jobTitle(type: string): string {
  if (type === "QUERYING" || type === "CLUSTERING") return "Question";
  return type.charAt(0) + type.slice(1).toLowerCase();
}
