import { z } from "zod";

/**
 * Header with the origin of a call. It is not a field, because services that follow the specification reject unknown
 * fields.
 */
export const originHeader = "recommender-origin";

/** Where a call comes from: a resource of a stack, and the release that deployed it, if any. */
export interface Origin {
  readonly project: string;
  readonly stack: string;
  readonly resource: string;
  readonly release?: string | undefined;
}

/** Maximum characters of each part in the header. */
const maxPartCharacters = 100;

/** Formats an origin for the header, such as `shop/dev/ranker`. Each part is percent-encoded. */
export function formatOrigin({ project, stack, resource, release }: Origin): string {
  const parts = [project, stack, resource, ...(release ? [release] : [])];
  return parts
    .map((part) =>
      encodeURIComponent(
        [...part]
          .slice(0, maxPartCharacters)
          .join("")
          .replace(/\p{Surrogate}/gu, "\ufffd"),
      ),
    )
    .join("/");
}

/** Returns the part of a stable address that identifies a deployment: its stack and resource, without the release. */
export function stableAddress({ project, stack, resource }: Origin): string {
  return formatOrigin({ project, stack, resource });
}

/** Parses the header. Returns undefined if it is not valid. */
export function parseOrigin(text: string): Origin | undefined {
  const parts = text.split("/");
  if (parts.length < 3 || parts.length > 4 || parts.includes("")) return undefined;
  try {
    const [project, stack, resource, release] = parts.map(decodeURIComponent) as [
      string,
      string,
      string,
      string?,
    ];
    return { project, stack, resource, ...(release !== undefined && { release }) };
  } catch {
    return undefined;
  }
}

/** Headers of calls that create an object, submit a job, or mark an orphan. */
export const originHeaders = z.object({
  [originHeader]: z
    .string()
    .max(8000)
    .refine(
      (text) => parseOrigin(text) !== undefined,
      "expected PROJECT/STACK/RESOURCE or PROJECT/STACK/RESOURCE/RELEASE, each part percent-encoded",
    )
    .optional()
    .describe(
      "Stack, resource and release that make the call (extension). The service records which stacks use an object, and the console shows them.",
    ),
});
