import { attributeValues, clusterUsers } from "../algorithms";
import { writeWhole } from "../files/folder";
import type { ModelSource } from "../files/model-file";
import type { Db } from "../store/database";
import type { ProjectData } from "../store/project-data";
import { modelAndItems } from "./query";

/** A clustering as a thread carries it out. */
export interface ClusteringTask {
  readonly kind: "CLUSTERING";
  readonly data: ProjectData;
  readonly model: ModelSource;
  readonly minUserNum: number;
  readonly jsonFile: string;
}

/** Groups the users whose vectors lie close to each other and says what marks each group. */
export async function cluster(db: Db, task: ClusteringTask): Promise<{ message: string | null }> {
  const { stored, attributes } = await modelAndItems(db, task);
  const schema = task.data.items.attribute_schema;
  const values = attributeValues(attributes, ...(schema === null ? [] : [JSON.parse(schema)]));
  const groups = clusterUsers(stored.model, values, task.minUserNum).map(({ size, members, markers }) => ({
    size,
    user_ids: members.map((user) => stored.userIds[user] as string),
    markers: markers.map(({ overallShare, ...marker }) => ({ ...marker, overall_share: overallShare })),
  }));
  writeWhole(task.jsonFile, JSON.stringify({ cluster_type: "user", groups }));
  return { message: groups.length === 0 ? `No group has ${task.minUserNum} users or more.` : null };
}
