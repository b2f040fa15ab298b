import { digest } from "./journal";

/** Fields in the order of 0.1.0: its journals and states hold digests of them in that order. */
const order = [
  ...["projectId", "modelId", "algorithmId", "name", "numShards", "attributeSchema"],
  ...["projectType", "targetEventType", "userDatasetId", "itemDatasetId", "eventDatasetId"],
  ...["algorithmType", "algorithmParameters", "triggers", "generatorModelId", "qps", "rankerModelId"],
  ...["queryType", "queries", "clusterType", "parameters"],
];

/**
 * Short names for what makes a creation the same when it is tried again: the one to write down, which is the same in
 * whatever order fields are given at any depth, and that of 0.1.0, which keeps the order of nested ones.
 */
export function identitiesOf(fields: unknown): readonly [string, string] {
  return [digest(inOrder(canonical(fields))), digest(inOrder(fields))];
}

function inOrder(fields: unknown): unknown {
  if (typeof fields !== "object" || fields === null) return fields;
  const placeOf = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  const entries = Object.entries(fields).sort(
    ([one], [other]) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1),
  );
  return Object.fromEntries(entries);
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, canonical(inner)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
