import { JobError } from "../base/job-error";
import type { Db } from "./database";
import { findDataset } from "./find";
import type { Dataset, ProjectTable } from "./tables";

/** The datasets and the target event type of a project, in a form that can be sent to threads. */
export interface ProjectData {
  readonly users: Pick<Dataset, "number" | "attribute_schema">;
  readonly items: Pick<Dataset, "number" | "attribute_schema">;
  readonly events: Pick<Dataset, "id" | "number">;
  readonly targetEventType: string;
}

/** Number that is used for a deleted event dataset. No event has it. */
const deletedDataset = -1;

/** Returns the datasets of a project. A deleted event dataset is treated as empty. */
export async function projectData(db: Db, project: ProjectTable): Promise<ProjectData> {
  const users = await findDataset(db, "user", project.user_dataset_id);
  const items = await findDataset(db, "item", project.item_dataset_id);
  const events = await findDataset(db, "event", project.event_dataset_id);
  if (!users || !items)
    throw new JobError(
      `A dataset of project ${project.id} was deleted. Create a project with other datasets.`,
    );
  return {
    users,
    items,
    events: events ?? { id: project.event_dataset_id, number: deletedDataset },
    targetEventType: project.target_event_type,
  };
}
