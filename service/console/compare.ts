import { notFound, ServiceError } from "../base/error";
import { sourceOf } from "../files/models";
import type { Context } from "../handlers/handler";
import { projectOf } from "../store/find";
import { projectData } from "../store/project-data";
import type { Previewed } from "../threads/preview";
import { labelOf } from "./try";

const maxUsers = 5;
const itemsPerUser = 10;

/** Maximum number of comparisons at a time. More would delay user queries, which use the same worker threads. */
const maxConcurrent = 4;
let running = 0;

/** Computes what two models recommend to the same users. Ignores events that arrived after the trainings. */
export async function compareModels(...asked: Parameters<typeof compare>) {
  if (running >= maxConcurrent)
    throw new ServiceError("RATE_LIMITED", "Too many comparisons are running. Try again in a moment.");
  running++;
  try {
    return await compare(...asked);
  } finally {
    running--;
  }
}

async function compare(
  { store: { db }, pool }: Context,
  modelIds: readonly string[],
  userIds: readonly string[],
  signal: AbortSignal,
) {
  const rows = await db
    .selectFrom("models")
    .select(["id", "project_id", "seen_deletions", "forgotten_until"])
    .where("id", "in", modelIds.slice(0, 2))
    .execute();
  const users = userIds.slice(0, maxUsers);
  /** One list per model, with one entry per user. */
  const answers: Previewed[][] = [];
  const labels = new Map<string, string>();
  for (const id of modelIds.slice(0, 2)) {
    const row = rows.find((one) => one.id === id);
    if (!row) throw notFound("model", id, "it may have been deleted");
    const data = await projectData(db, await projectOf(db, row.project_id));
    const model = sourceOf(row);
    const found = await pool.run(
      { kind: "PREVIEW", data, model, userIds: users, limit: itemsPerUser },
      signal,
    );
    answers.push(found);
    const items = [...new Set(found.flatMap(({ itemIds }) => itemIds))];
    if (items.length === 0) continue;
    const records = await db
      .selectFrom("records")
      .select(["record_id", "attributes"])
      .where("dataset", "=", data.items.number)
      .where("record_id", "in", items)
      .execute();
    for (const { record_id, attributes } of records) {
      const label = labelOf(JSON.parse(attributes));
      if (label !== null) labels.set(record_id, label);
    }
  }
  return { users, models: answers, labels: Object.fromEntries(labels) };
}
