import { notFound } from "../base/error";
import type { Db } from "./database";
import type { AlgorithmTable, Dataset, DatasetKind, Model, ProjectTable } from "./tables";

/** The dataset of that kind and id, where there is one. */
export function findDataset(db: Db, kind: DatasetKind, id: string): Promise<Dataset | undefined> {
  return db
    .selectFrom("datasets")
    .selectAll()
    .where("id", "=", id)
    .where("kind", "=", kind)
    .executeTakeFirst();
}

/** The dataset of that kind and id, or the error that it is not there. */
export async function datasetOf(db: Db, kind: DatasetKind, id: string): Promise<Dataset> {
  const found = await findDataset(db, kind, id);
  if (!found) throw notFound(`${kind} dataset`, id, `create it first with /create-${kind}-dataset`);
  return found;
}

/** The dataset of that id, whatever its kind, or the error that it is not there. */
export async function anyDatasetOf(db: Db, id: string): Promise<Dataset> {
  const found = await db
    .selectFrom("datasets")
    .selectAll()
    .where("id", "=", id)
    .where("kind", "!=", "deleted")
    .executeTakeFirst();
  if (!found) throw notFound("dataset", id, "create it first, as with /create-event-dataset");
  return found;
}

/** The project of that id, or the error that it is not there. */
export async function projectOf(db: Db, id: string): Promise<ProjectTable> {
  // PostgreSQL refuses a NUL, which the path of a request may hold.
  const found = id.includes("\0")
    ? undefined
    : await db.selectFrom("projects").selectAll().where("id", "=", id).executeTakeFirst();
  if (!found) throw notFound("project", id, "create it first with /create-project");
  return found;
}

/** The algorithm of that project and id, or the error that it is not there. */
export async function algorithmOf(db: Db, projectId: string, id: string): Promise<AlgorithmTable> {
  const found = await db
    .selectFrom("algorithms")
    .selectAll()
    .where("id", "=", id)
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  if (!found)
    throw notFound(`algorithm in project ${projectId}`, id, "create it first with /create-algorithm");
  return found;
}

/** The model of that project and id, or the error that it is not there. */
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
      `model in project ${projectId}`,
      id,
      "train one with /submit-training-job, or see /list-models",
    );
  }
  return found;
}
