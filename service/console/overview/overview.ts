import { dayMs } from "../../base/clock";
import type { Context } from "../../handlers/handler";
import type { Db } from "../../store/database";
import { countRows } from "../../store/find";
import { newRefusals } from "../../store/history/refusals";
import { orphanIds } from "../../store/orphans";
import { type DatasetSummary, datasetSummaries, type JobRow, jobCounts, jobsOf } from "../rows";
import { findAttention } from "./attention";
import { deploymentsOf, type OverviewProject, projectOverview } from "./project";

const maxProjects = 50;

/** Returns projects, datasets, running jobs and problems. Orphans are included only with `withOrphans`. */
export async function overview(
  context: Context,
  { withOrphans = false }: { readonly withOrphans?: boolean } = {},
) {
  const { db } = context.store;
  const orphans = await orphanIds(db);
  // SQL does not allow an empty list, so an id that no object has is added.
  const hidden = ["", ...(withOrphans ? [] : orphans)];
  const shown = db.selectFrom("projects").selectAll().where("id", "not in", hidden);
  const rows = await shown.orderBy("created_ts", "desc").limit(maxProjects).execute();
  const used = [
    "",
    ...rows.flatMap((row) => [row.user_dataset_id, row.item_dataset_id, row.event_dataset_id]),
  ];
  const newest = db
    .selectFrom("datasets")
    .select("number")
    .where("kind", "!=", "deleted")
    .where("id", "not in", hidden)
    .orderBy("number", "desc")
    .limit(200);
  const datasetRows = await db
    .selectFrom("datasets")
    .selectAll()
    .where("kind", "!=", "deleted")
    .where((of) =>
      of.or([
        of("number", "in", of.selectFrom(newest.as("newest")).select("newest.number")),
        of("id", "in", used),
      ]),
    )
    .orderBy("number", "desc")
    .execute();
  const datasets = await datasetSummaries(db, datasetRows);
  const { rows: unfinished } = await jobsOf(db, { isUnfinished: true, limit: 20 });
  const deployments = await deploymentsOf(
    context,
    rows.map(({ id }) => id),
  );
  const projects: OverviewProject[] = [];
  for (const row of rows) {
    const answer = await projectOverview(db, row, datasets, deployments, unfinished, hidden);
    projects.push({ ...answer, isOrphaned: orphans.has(row.id) });
  }
  const now = context.clock.now();
  const failed = (await unresolvedFailures(db, now)).filter(({ projectId }) => !orphans.has(projectId));
  const counts = await newRefusals(db, datasetRows, now);
  const refused = datasetRows.flatMap((row) => {
    const found = orphans.has(row.id) ? undefined : counts.get(row.number);
    return found ? [{ ...row, ...found }] : [];
  });
  return {
    projects,
    /** Number of older projects that are not listed. */
    otherProjects: (await countRows(db, shown)) - rows.length,
    /** Number of orphaned projects, algorithms and datasets, even if they are not listed. */
    orphans: orphans.size,
    datasets,
    running: unfinished,
    attention: findAttention({
      ...withoutOrphans({ projects, datasets }),
      failed,
      refused,
      now: context.clock.now(),
    }),
    jobs: await jobCounts(db),
  };
}

/** Leaves out orphaned projects and datasets, which need no attention. */
function withoutOrphans({ projects, datasets }: { projects: OverviewProject[]; datasets: DatasetSummary[] }) {
  return {
    projects: projects.filter(({ isOrphaned }) => !isOrphaned),
    datasets: datasets.filter(({ isOrphaned }) => !isOrphaned),
  };
}

const weekMs = 7 * dayMs;

/** Returns the jobs that failed in the last week, unless a later job of the same type and project succeeded. */
async function unresolvedFailures(db: Db, now: number) {
  const { rows } = await jobsOf(db, { status: "FAILED", limit: 20 });
  const open: JobRow[] = [];
  for (const job of rows.filter(({ createdTs }) => createdTs > now - weekMs)) {
    const since = await db
      .selectFrom("jobs")
      .select("number")
      .where("project_id", "=", job.projectId)
      .where("job_type", "=", job.type as "TRAINING")
      .where("status", "=", "SUCCEED")
      .where("number", ">", job.number)
      .limit(1)
      .executeTakeFirst();
    if (!since) open.push(job);
  }
  return open;
}
