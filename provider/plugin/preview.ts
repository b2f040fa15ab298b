import { isDeepStrictEqual } from "node:util";
import { idOutput } from "../lifecycle/definition";
import type { Lifecycle } from "../lifecycle/protocol";
import type { Properties } from "../run/state-entry";
import { unknownValue } from "../run/unknown-value";

/** Returns the outputs in the preview of a create: the arguments, and the id if an object is adopted. */
export function previewOfCreate(definition: Lifecycle, inputs: Properties): Properties {
  const { existingId } = inputs;
  const id = idOutput(definition.type);
  const isAdopted = definition.outputNames.includes(id) && existingId !== undefined;
  return { ...unknownOutputs(definition), ...inputs, ...(isAdopted && { [id]: existingId }) };
}

/** Returns the outputs in the preview of an update. They are unknown if an argument changes, except stable ones. */
export function previewOfUpdate(definition: Lifecycle, olds: Properties, news: Properties): Properties {
  const changes = definition.argumentNames.some(
    (key) => !isDeepStrictEqual(olds[key] ?? null, news[key] ?? null),
  );
  const isStable = (key: string) =>
    !changes || key === idOutput(definition.type) || definition.stableOutputs.includes(key);
  const outputs = definition.outputNames.map((key) => [key, isStable(key) ? olds[key] : unknownValue]);
  return { ...Object.fromEntries(outputs), ...news };
}

function unknownOutputs({ outputNames }: Lifecycle): Properties {
  return Object.fromEntries(outputNames.map((key) => [key, unknownValue]));
}
