import { isDeepStrictEqual } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";

/** The arguments or the state of a resource as the engine hands them over. */
export type Properties = Record<string, unknown>;

/** Whether an argument differs from what the state holds. */
export function hasChanged(key: string, id: string, olds: Properties, news: Properties): boolean {
  if (key === "existingId") return news[key] !== undefined && news[key] !== id;
  // The engine keeps no null, so that null and absent are the same to it.
  return !isDeepStrictEqual(olds[key] ?? null, news[key] ?? null);
}

/** The arguments with what was left out filled in. */
export function withDefaults(schema: z.ZodObject, given: Properties): Properties {
  const inputs = { ...given };
  for (const [key, field] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
    if (inputs[key] === undefined) {
      const fallback = field.safeParse(undefined);
      if (fallback.success && fallback.data !== undefined) inputs[key] = fallback.data;
    }
  }
  return inputs;
}

/** What is wrong with arguments; whatever is not known yet is left alone. */
export function faults(schema: z.ZodObject, given: Properties): pulumi.dynamic.CheckFailure[] {
  const { __provider, __urn, ...args } = given;
  const issues = schema.safeParse(args).error?.issues ?? [];
  return issues
    .filter(
      (issue) =>
        issue.code === "unrecognized_keys" ||
        !holdsUnknown(issue.path.reduce<unknown>((value, key) => member(value, key), args)),
    )
    .map(({ path, message }) => ({ property: path.join("."), reason: message }));
}

function member(value: unknown, key: PropertyKey): unknown {
  return typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : value;
}

function holdsUnknown(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).some(holdsUnknown);
  return value === pulumi.runtime.unknownValue;
}

/** The arguments among the properties of a state. */
export function pick(properties: Properties, keys: readonly string[]): Properties {
  const wanted = [...keys, "__urn"].filter((key) => properties[key] !== undefined);
  return Object.fromEntries(wanted.map((key) => [key, properties[key]]));
}
