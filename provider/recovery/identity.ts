import { digest } from "./journal";

/** Fields in the order of 0.1.0: its journals and states hold digests of them in that order. */
const order = [
  ...["projectId", "modelId", "algorithmId", "name", "numShards", "attributeSchema"],
  ...["projectType", "targetEventType", "userDatasetId", "itemDatasetId", "eventDatasetId"],
  ...["algorithmType", "algorithmParameters", "triggers", "generatorModelId", "qps", "rankerModelId"],
  ...["queryType", "queries", "clusterType", "parameters"],
];

/** A short name for what makes a creation the same when it is tried again, in whatever order its fields are given. */
export function identityOf(fields: unknown): string {
  if (typeof fields !== "object" || fields === null) return digest(fields);
  const placeOf = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  const entries = Object.entries(fields).sort(
    ([one], [other]) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1),
  );
  return digest(Object.fromEntries(entries));
}
