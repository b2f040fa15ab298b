import { toUSVString } from "node:util";
import type { z } from "zod";
import type { Detail } from "./error";

/** The faults of a request with their places as the wire names them. */
export function detailsOf(error: z.ZodError, under: readonly PropertyKey[] = []): Detail[] {
  return error.issues
    .slice(0, 20)
    .map(({ path, message }) => ({ path: pathOf([...under, ...path]), message }));
}

/** A place in a body, as in `queries[0].conditions[1].value`. */
export function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? String(part) : `${text}.${String(part)}`,
    "",
  );
}

/** Whether a text can be kept in a database as it is: well-formed Unicode without NUL, which PostgreSQL refuses. */
export function storable(text: string): boolean {
  return toUSVString(text) === text && !text.includes("\0");
}

/** The texts of a request that cannot be kept. */
export function unstorablePaths(value: unknown, path: readonly PropertyKey[] = []): Detail[] {
  if (typeof value === "string") {
    return storable(value)
      ? []
      : [{ path: pathOf(path), message: "expected well-formed Unicode without NUL characters" }];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    ...unstorablePaths(key, path),
    ...unstorablePaths(member, [...path, Array.isArray(value) ? Number(key) : key]),
  ]);
}
