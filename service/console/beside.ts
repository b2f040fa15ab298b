import { notFound, ServiceError } from "../base/error";
import { sourceOf } from "../files/models";
import type { Context } from "../handlers/handler";
import { projectOf } from "../store/find";
import { projectData } from "../store/project-data";
import type { BesideAnswer } from "./answers";
import { labelOf } from "./try";

const [mostUsers, shownItems] = [5, 10];

/** Each reads two models; more at once would keep questions waiting for long. */
const mostAtOnce = 4;
let underWay = 0;

/** What models recommend to the same users, as they were trained. */
export async function besideAnswer(...asked: Parameters<typeof beside>): Promise<BesideAnswer> {
  if (underWay >= mostAtOnce)
    throw new ServiceError("RATE_LIMITED", "Other models are being compared; try again in a moment.");
  underWay++;
  try {
    return await beside(...asked);
  } finally {
    underWay--;
  }
}

async function beside(
  { store: { db }, pool }: Context,
  modelIds: readonly string[],
  userIds: readonly string[],
  signal: AbortSignal,
): Promise<BesideAnswer> {
  const rows = await db
    .selectFrom("models")
    .select(["id", "project_id", "seen_deletions", "forgotten_until"])
    .where("id", "in", modelIds.slice(0, 2))
    .execute();
  const users = userIds.slice(0, mostUsers);
  const answers: BesideAnswer["models"][number][] = [];
  const labels = new Map<string, string>();
  for (const id of modelIds.slice(0, 2)) {
    const row = rows.find((one) => one.id === id);
    if (!row) throw notFound("model", id, "it may have been deleted");
    const data = await projectData(db, await projectOf(db, row.project_id));
    const model = sourceOf(row);
    const found = await pool.run({ kind: "PREVIEW", data, model, userIds: users, limit: shownItems }, signal);
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
