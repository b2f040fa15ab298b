import { attributeValues, clusterUsers } from "../algorithms";
import type { ModelSource } from "../files/models";
import { type Attempt, type Files, resultName } from "../files/storage/files";
import type { Db } from "../store/database";
import type { ProjectData } from "../store/project-data";
import { modelAndItems } from "./query";

/** A clustering for a thread to run. */
export interface ClusteringTask {
  readonly kind: "CLUSTERING";
  readonly data: ProjectData;
  readonly model: ModelSource;
  readonly minUserNum: number;
  readonly job: Attempt;
}

/** Groups users with similar vectors, finds what distinguishes each group, and writes the result to a file. */
export async function cluster(
  db: Db,
  files: Files,
  task: ClusteringTask,
): Promise<{ message: string | null }> {
  const { stored, attributes } = await modelAndItems(db, files, task);
  const schema = task.data.items.attribute_schema;
  const values = attributeValues(attributes, ...(schema === null ? [] : [JSON.parse(schema)]));
  const groups = clusterUsers(stored.model, values, task.minUserNum).map(({ size, members, markers }) => ({
    size,
    user_ids: members.map((user) => stored.userIds[user] as string),
    markers: markers.map(({ overallShare, ...marker }) => ({ ...marker, overall_share: overallShare })),
  }));
  const result = JSON.stringify({ cluster_type: "user", groups });
  await files.write(resultName(task.job, "json"), [Buffer.from(result)]);
  return { message: groups.length === 0 ? `No group has ${task.minUserNum} users or more.` : null };
}
