import { JobError } from "../base/job-error";
import { type Files, resultName } from "../files/storage/files";
import type { Chunk } from "../store/chunks";

/** Recommendations for one user. */
export interface UserLine {
  readonly user_id: string;
  readonly results: readonly { readonly item: { readonly item_id: string } & Record<string, unknown> }[];
}

/** Reads the lines of a chunk. Splits only at `\n`, unlike readline, because ids may contain other separators. */
export async function* linesOf(
  files: Files,
  jobId: string,
  { number, attempt }: Pick<Chunk, "number" | "attempt">,
): AsyncGenerator<string> {
  const name = resultName({ id: jobId, attempt }, `chunk-${number}`);
  const reading = await files.read(name);
  if (!reading)
    throw new JobError(`The file ${name} of this job is missing in ${files.label}. Submit the job again.`);
  let rest = "";
  for await (const piece of reading.stream.setEncoding("utf8")) {
    const lines = `${rest}${piece}`.split("\n");
    rest = lines.pop() as string;
    yield* lines;
  }
}

/** Returns the last user in a chunk. */
export async function lastUserIn(files: Files, jobId: string, chunk: Chunk): Promise<string> {
  let last = "";
  for await (const line of linesOf(files, jobId, chunk)) last = line;
  return (JSON.parse(last) as UserLine).user_id;
}
