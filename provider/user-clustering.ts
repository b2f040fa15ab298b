import { clusteringFields, routes } from "../contract";
import { jobKinds } from "./jobs/jobs";
import { finishedJob, type ResultKind, submittedJob } from "./jobs/result-job";

const clustering: ResultKind = {
  kind: jobKinds.clustering,
  route: routes.submitClusteringJob,
  fields: clusteringFields,
  args: (more) => clusteringFields.extend(more),
};

/** Job that clusters users. */
export const clusteringJob = submittedJob("ClusteringJob", clustering);

/** Result of a clustering job. */
export const userClustering = finishedJob("UserClustering", "ClusteringJob", clustering);
