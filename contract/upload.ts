import { z } from "zod";

/**
 * Header with the upload that an upsert belongs to. It is not a field, because other services reject unknown fields.
 */
export const uploadHeader = "recommender-upload";

/** An upload of a source, which replaces an earlier upload of the same source. */
export interface Upload {
  /** Token of the earlier upload of the source. */
  readonly basis: string;
  /** Token of the upload. */
  readonly token: string;
}

const pattern = /^([\w-]{1,64})\/([\w-]{1,64})$/;

/** Formats an upload for the header, as BASIS/TOKEN. */
export function formatUpload({ basis, token }: Upload): string {
  return `${basis}/${token}`;
}

/** Parses the header. Returns undefined if it is not valid. */
export function parseUpload(text: string): Upload | undefined {
  const [, basis, token] = pattern.exec(text) ?? [];
  return basis !== undefined && token !== undefined ? { basis, token } : undefined;
}

/** Headers of upserts. */
export const uploadHeaders = z.object({
  [uploadHeader]: z
    .string()
    .regex(pattern, "expected BASIS/TOKEN")
    .optional()
    .describe(
      "Tokens of the earlier upload of the source and of this one (extension). The service stores them with the dataset, and an interrupted upload is then found from any machine.",
    ),
});
