import { limits } from "../../../contract";
import type { Attention, DatasetShort, JobRow, OverviewAnswer, OverviewProject } from "../answers";

const grouped = (count: number) => count.toLocaleString("en");

/** What wants a decision; the worst first. */
export function attentionTo({
  projects,
  datasets,
  failed,
  refused,
}: Pick<OverviewAnswer, "projects" | "datasets"> & {
  readonly failed: readonly JobRow[];
  readonly refused: readonly (Pick<DatasetShort, "id" | "kind" | "name" | "records"> & { reason: string })[];
}): Attention[] {
  const found: Attention[] = failed.slice(0, 5).map((job) => ({
    level: "bad",
    title: `${titled(job.type)} ${job.name} failed`,
    text: job.message ?? "Its message is not known.",
    href: `#/jobs/${job.id}`,
  }));
  for (const { id, kind, name, records, capacity } of datasets) {
    if (records < capacity * 0.9) continue;
    found.push({
      level: records >= capacity ? "bad" : "warn",
      title: `The ${kind} dataset ${name} is ${Math.floor((100 * records) / capacity)} % full`,
      text: `It holds ${grouped(records)} of ${grouped(capacity)} records, ${grouped(limits.recordsPerShard)} a shard; further ones are refused. Create a dataset with more shards.`,
      href: `#/datasets/${id}`,
    });
  }
  for (const { id, kind, name, records, reason } of refused)
    found.push({
      level: "warn",
      title: `Records of the ${kind} dataset ${name} were refused ${records === 1 ? "once" : `${grouped(records)} times`} since yesterday`,
      text: `For example: ${reason}${/[.?!]$/.test(reason) ? "" : "."}`,
      href: `#/datasets/${id}`,
    });
  for (const project of projects) found.push(...ofProject(project));
  const order = ["bad", "warn", "hint"];
  return found.sort((a, b) => order.indexOf(a.level) - order.indexOf(b.level));
}

function ofProject(project: OverviewProject): Attention[] {
  const { name, newest, deployment, isTraining } = project;
  const gone = project.datasets.find((dataset) => "isDeleted" in dataset);
  if (gone)
    return [
      {
        level: "warn",
        title: `The ${gone.kind} dataset of ${name} was deleted`,
        text: "Its models serve on with what they learned; nothing can be trained. Create a project over another dataset.",
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
              ? "A model learns from events: declare UserRecords, ItemRecords and EventRecords in the program, or add records with recommender import."
              : "Declare an Algorithm and a Model in the program and run pulumi up.",
            ...(isEmpty && { href: "#/datasets" }),
          },
        ];
  if (!deployment)
    return [
      {
        level: "hint",
        title: `${name} does not serve`,
        text: `The model ${newest.name} is trained; a Deployment lets it answer.`,
        href: "#/serving",
      },
    ];
  const found: Attention[] = [];
  if (!deployment.isLoaded)
    found.push({
      level: "warn",
      title: `The models of ${name} are not in memory`,
      text: "They are being loaded, or cannot be; the log of the service says why.",
      href: "#/serving",
    });
  const { generator, eventsSince: since } = deployment;
  const { ndcgAt20, popularityNdcgAt20 } = generator?.quality ?? {};
  if (ndcgAt20 != null && popularityNdcgAt20 != null && ndcgAt20 < popularityNdcgAt20)
    found.push({
      level: "warn",
      title: `${name} serves a model that is worse than popular items`,
      text: `${generator?.name} reached ${ndcgAt20.toFixed(3)} NDCG@20, popular items ${popularityNdcgAt20.toFixed(3)}.`,
      href: `#/models/${generator?.id}`,
    });
  if (since && events && "records" in events && since.count > 0.1 * events.records && since.count >= 100)
    found.push({
      level: "warn",
      title: `${grouped(since.count)}${since.isMore ? " or more" : ""} events since the serving model of ${name} was trained`,
      text: "New events count in answers at once; a new training lets the model itself learn from them.",
      href: "#/models",
    });
  if (generator && newest.id !== generator.id && newest.createdTs > generator.createdTs)
    found.push({
      level: "hint",
      title: `A newer model of ${name} does not serve`,
      text: `${newest.name} was trained after ${generator.name}, which serves; compare them before you deploy it.`,
      href: `#/models/${newest.id}/${generator.id}`,
    });
  return found;
}

function titled(type: string): string {
  if (type === "QUERYING" || type === "CLUSTERING") return "Question";
  return type.charAt(0) + type.slice(1).toLowerCase();
}
