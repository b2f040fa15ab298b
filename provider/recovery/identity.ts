import { digest } from "../../client/state-directory";

/** Field order of version 0.1.0. The digests in its journals and states depend on this order. */
const order =
  "projectId modelId algorithmId name numShards attributeSchema projectType targetEventType userDatasetId itemDatasetId " +
  "eventDatasetId algorithmType algorithmParameters triggers generatorModelId qps rankerModelId queryType queries " +
  "clusterType parameters";
const positions = new Map(order.split(" ").map((field, at) => [field, at]));

/**
 * Returns two digests that identify a create when it is tried again. The current digest ignores the order of fields at
 * any depth. The digest of 0.1.0 ignores it only at the top level.
 */
export function identitiesOf(fields: unknown): readonly [string, string] {
  return [digest(inOrder(canonical(fields))), digest(inOrder(fields))];
}

function inOrder(fields: unknown): unknown {
  if (typeof fields !== "object" || fields === null) return fields;
  const positionOf = (key: string) => positions.get(key) ?? positions.size;
  const entries = Object.entries(fields).sort(
    ([one], [other]) => positionOf(one) - positionOf(other) || (one < other ? -1 : 1),
  );
  return Object.fromEntries(entries);
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, canonical(inner)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
