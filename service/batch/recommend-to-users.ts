import { ServiceError } from "../base/error";
import { JobError } from "../base/job-error";
import { type Files, resultName } from "../files/storage/files";
import type { Deployed } from "../serving/deployed";
import { recommend } from "../serving/recommend";
import { withAttributes } from "../serving/with-attributes";
import type { Chunk } from "../store/chunks";
import type { Db } from "../store/database";
import type { RecommendationTask } from "../threads/recommendation";
import { lastUserIn, type UserLine } from "./lines";
import { openModels } from "./open";
import { usersAfter } from "./users";

/** A chunk is written when it has this many users or characters. An interrupted job repeats at most this much. */
const chunkUsers = 2000;
const chunkCharacters = 4 * 1024 * 1024;

/** Number of users who are computed at the same time. With PostgreSQL, their events are read in one statement. */
const concurrentUsers = 64;

/**
 * Recommends items to users in the order of their ids, and writes the results to chunks. Continues after the last chunk
 * of earlier attempts.
 */
export async function recommendToUsers(
  db: Db,
  files: Files,
  task: RecommendationTask,
  onChunk: (chunk: Chunk) => void,
): Promise<void> {
  const { done, job, asked } = task;
  const { deployed, deletions } = await openModels(db, files, task);
  const last = done.at(-1);
  let number = done.length;
  let [lines, characters]: [string[], number] = [[], 0];
  const write = async () => {
    if (lines.length === 0) return;
    const { attempt } = job;
    await files.write(resultName(job, `chunk-${number}`), [Buffer.from(lines.join(""))]);
    onChunk({ number: number++, attempt, users: lines.length, deletions });
    [lines, characters] = [[], 0];
  };
  for await (const page of usersAfter(db, files, task, last && (await lastUserIn(files, job.id, last)))) {
    for (let from = 0; from < page.length; from += concurrentUsers) {
      const users = page.slice(from, from + concurrentUsers);
      const results = await Promise.all(users.map((userId) => lineOf(deployed, userId, asked)));
      for (const line of results) characters += line.length;
      lines.push(...results);
      if (lines.length >= chunkUsers || characters >= chunkCharacters) await write();
    }
  }
  await write();
  deployed.close();
}

/** Returns the line for a user, which has the same fields as the answer of a recommendation call. */
async function lineOf(
  deployed: Deployed,
  userId: string,
  { attributes, ...asked }: RecommendationTask["asked"],
): Promise<string> {
  const ids = await recommend(deployed, { ...asked, userId, isAddressed: true }).catch((error) => {
    throw final(error);
  });
  const items = await withAttributes(deployed, ids, attributes);
  const results = items.map((item) => ({ item: { ...item.attributes, item_id: item.itemId } }));
  return `${JSON.stringify({ user_id: userId, results } satisfies UserLine)}\n`;
}

/** A filter that is invalid for the records of today stays invalid, so such a job is not retried. */
function final(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== "BAD_REQUEST") return error;
  const reasons = (error.more.details ?? []).map(({ path, message }) => `${path}: ${message}`);
  return new JobError(`The job is invalid: ${reasons.join("; ")}. Submit it again with a different filter.`);
}
