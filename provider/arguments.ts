import { isDeepStrictEqual } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import { issuesText } from "../contract/words";

/** The arguments or the state of a resource as the engine hands them over. */
export type Properties = Record<string, unknown>;

/** The name that the program gives a resource; never secret, unlike the argument `name`. */
export function logicalName(urn: string | undefined): string {
  return urn?.split("::").slice(3).join("::") ?? "";
}

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

/**
 * The arguments with a name. Where the program gives none it is the logical name under which the resource was first
 * declared, so that an alias renames nothing.
 */
export function withName(schema: z.ZodObject, olds: Properties, news: Properties): Properties {
  if (!("name" in schema.shape) || news.name !== undefined) return news;
  const current = logicalName(news.__urn as string | undefined);
  const first = olds.__firstName ?? (logicalName(olds.__urn as string | undefined) || current);
  return { ...news, name: first, ...(first !== current && { __firstName: first }) };
}

/**
 * What is wrong with arguments; whatever is not known yet is left alone.
 * Without a property of its own, for beside one the engine would print the value.
 */
export function faults(schema: z.ZodObject, given: Properties): pulumi.dynamic.CheckFailure[] {
  const args = Object.fromEntries(Object.entries(given).filter(([key]) => !key.startsWith("__")));
  const unresolved = (given.__unresolved ?? []) as readonly unknown[];
  const issues = schema.safeParse(args).error?.issues ?? [];
  return issues
    .filter(
      (issue) =>
        issue.code === "unrecognized_keys" ||
        !(
          unresolved.includes(issue.path[0]) ||
          holdsUnknown(issue.path.reduce<unknown>((value, key) => member(value, key), args))
        ),
    )
    .map((issue) => ({ property: "", reason: issuesText([issue], schema) }));
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
  const wanted = [...keys, "__urn", "__firstName"].filter((key) => properties[key] !== undefined);
  return Object.fromEntries(wanted.map((key) => [key, properties[key]]));
}
