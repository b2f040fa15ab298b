import type { AliasableExpression } from "kysely";
import { notFound } from "../base/error";
import type { Db } from "./database";
import type { AlgorithmTable, Dataset, DatasetKind, Model, ProjectTable } from "./tables";

/** Counts the rows of a query. */
export async function countRows(db: Db, rows: AliasableExpression<object>): Promise<number> {
  const { count } = await db
    .selectFrom(rows.as("rows"))
    .select((of) => of.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Returns the number for the next row of a table. Call it in an exclusive transaction. */
export async function nextNumber(db: Db, table: "datasets" | "jobs" | "models"): Promise<number> {
  const { last } = await db
    .selectFrom(table)
    .select((of) => of.fn.max<number | null>("number").as("last"))
    .executeTakeFirstOrThrow();
  return (last ?? 0) + 1;
}

/** Finds a dataset by kind and id. */
export function findDataset(db: Db, kind: DatasetKind, id: string): Promise<Dataset | undefined> {
  return db
    .selectFrom("datasets")
    .selectAll()
    .where("id", "=", id)
    .where("kind", "=", kind)
    .executeTakeFirst();
}

/** Returns a dataset by kind and id. Throws if it does not exist. */
export async function datasetOf(db: Db, kind: DatasetKind, id: string): Promise<Dataset> {
  const found = await findDataset(db, kind, id);
  if (!found) throw notFound(`${kind} dataset`, id, `create it first with /create-${kind}-dataset`);
  return found;
}

/** Returns a dataset of any kind by id. Throws if it does not exist or is deleted. */
export async function anyDatasetOf(db: Db, id: string): Promise<Dataset> {
  const found = await db
    .selectFrom("datasets")
    .selectAll()
    .where("id", "=", id)
    .where("kind", "!=", "deleted")
    .executeTakeFirst();
  if (!found) throw notFound("dataset", id, "create it first, for example with /create-event-dataset");
  return found;
}

/** Returns a project. Throws if it does not exist. */
export async function projectOf(db: Db, id: string): Promise<ProjectTable> {
  // PostgreSQL rejects NUL, which the path of a request may contain.
  const found = id.includes("\0")
    ? undefined
    : await db.selectFrom("projects").selectAll().where("id", "=", id).executeTakeFirst();
  if (!found) throw notFound("project", id, "create it first with /create-project");
  return found;
}

/** Returns an algorithm of a project. Throws if it does not exist. */
export async function algorithmOf(db: Db, projectId: string, id: string): Promise<AlgorithmTable> {
  const found = await db
    .selectFrom("algorithms")
    .selectAll()
    .where("id", "=", id)
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  if (!found)
    throw notFound("algorithm", id, `create it first in project ${projectId} with /create-algorithm`);
  return found;
}

/** Returns a model of a project. Throws if it does not exist. */
export async function modelOf(db: Db, projectId: string, id: string): Promise<Model> {
  await projectOf(db, projectId);
  const found = await db
    .selectFrom("models")
    .selectAll()
    .where("id", "=", id)
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  if (!found) {
    throw notFound(
      "model",
      id,
      `train one in project ${projectId} with /submit-training-job, or see /list-models`,
    );
  }
  return found;
}
