import { z } from "zod";

/** A header and no field, for a service that knows no more than the specification would refuse a field. */
export const originHeader = "recommender-origin";

/** Where a job comes from: a resource of a stack, and the release that it was brought there with. */
export interface Origin {
  readonly project: string;
  readonly stack: string;
  readonly resource: string;
  readonly release?: string | undefined;
}

/** Characters of each part that are told. */
const longest = 100;

/** An origin as the header carries it: `shop/dev/ranker`, each part percent-encoded. */
export function formatOrigin({ project, stack, resource, release }: Origin): string {
  const parts = [project, stack, resource, ...(release ? [release] : [])];
  return parts
    .map((part) =>
      encodeURIComponent(
        [...part]
          .slice(0, longest)
          .join("")
          .replace(/\p{Surrogate}/gu, "\ufffd"),
      ),
    )
    .join("/");
}

/** The address of a deployment that outlives its project: the resource of the stack, whatever release it has. */
export function stableAddress({ project, stack, resource }: Origin): string {
  return formatOrigin({ project, stack, resource });
}

/** The origin that a header tells; undefined where it is none. */
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

/** The headers of a call that submits a job. */
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
      "The stack and the resource that submit the job, and the release, which the console shows; beyond the specification.",
    ),
});
