import { isDeepStrictEqual } from "node:util";
import type { Lifecycle } from "../lifecycle/protocol";
import type { Properties } from "../run/state-entry";
import { unknownValue } from "../run/unknown-value";

/** The output that is the id of the object itself: `eventDatasetId` of an EventDataset. No update changes it. */
export function idOutput({ type }: Pick<Lifecycle, "type">): string {
  return `${type.charAt(0).toLowerCase()}${type.slice(1)}Id`;
}

/** What a program sees of a resource that is to be created: its arguments, and the id where an object is adopted. */
export function previewOfCreate(definition: Lifecycle, inputs: Properties): Properties {
  const { existingId } = inputs;
  const id = idOutput(definition);
  const isAdopted = definition.outputNames.includes(id) && existingId !== undefined;
  return { ...unknownOutputs(definition), ...inputs, ...(isAdopted && { [id]: existingId }) };
}

/** What a program sees of a resource that is to be changed: the outputs may change, but not where no argument does. */
export function previewOfUpdate(definition: Lifecycle, olds: Properties, news: Properties): Properties {
  const changes = definition.argumentNames.some(
    (key) => !isDeepStrictEqual(olds[key] ?? null, news[key] ?? null),
  );
  const isStable = (key: string) =>
    !changes || key === idOutput(definition) || definition.stableOutputs.includes(key);
  const outputs = definition.outputNames.map((key) => [key, isStable(key) ? olds[key] : unknownValue]);
  return { ...Object.fromEntries(outputs), ...news };
}

function unknownOutputs({ outputNames }: Lifecycle): Properties {
  return Object.fromEntries(outputNames.map((key) => [key, unknownValue]));
}
