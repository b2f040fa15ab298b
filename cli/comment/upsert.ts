import { setTimeout as delay } from "node:timers/promises";
import type { Comments } from "./comments";
import { HostError } from "./host-client";

const maxAttempts = 5;
const firstDelayMs = 250;

/** Result of posting a comment. */
export interface Posted {
  readonly action: "created" | "updated" | "unchanged";
  readonly url?: string | undefined;
}

/** Returns the hidden marker that identifies a comment: the last marker in the text. */
export function markerIn(body: string): string {
  const marker = [...body.matchAll(/<!-- recommender[- ][^>]*-->/g)].at(-1)?.[0];
  if (marker !== undefined) return marker;
  throw new Error(
    "The file has no marker, so its comment could not be found again. Write it with `recommender review --output FILE.md`.",
  );
}

/**
 * Edits the comment with the marker of a text, or creates it. Each attempt searches again, because a call without a
 * response may have created the comment.
 */
export async function upsertComment(comments: Comments, text: string): Promise<Posted> {
  const marker = markerIn(text);
  const body = shortened(text, marker, comments.maxCharacters);
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOnce(comments, marker, body);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const wait = error.retryAfterMs;
      if (wait === undefined || attempt === maxAttempts) throw error;
      await delay(Math.max(wait, firstDelayMs * 2 ** (attempt - 1)));
    }
  }
}

async function attemptOnce(comments: Comments, marker: string, body: string): Promise<Posted> {
  const found = await comments.find(marker);
  if (!found) return createOnce(comments, marker, body);
  // Hosts change line ends and spaces at the end.
  if (plain(found.body) === plain(body)) return { action: "unchanged", url: found.url };
  return { action: "updated", url: (await comments.edit(found.id, body)).url ?? found.url };
}

/** Creates the comment. If another run has created it at the same time, keeps only the older one. */
async function createOnce(comments: Comments, marker: string, body: string): Promise<Posted> {
  const created = await comments.create(body);
  const oldest = await comments.find(marker);
  if (!oldest || oldest.id === created.id) return { action: "created", url: created.url };
  const { url } = await comments.edit(oldest.id, body);
  await comments.remove(created.id);
  return { action: "updated", url: url ?? oldest.url };
}

const plain = (text: string) => text.replaceAll("\r\n", "\n").trim();

/** Shortens a text at the end of a line, closes its open code block and details, and keeps the marker. */
export function shortened(text: string, marker: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const end = `\n\n…The rest is too long for a comment; see the output of the pipeline.\n\n${marker}\n`;
  const room = maxCharacters - end.length - 500;
  const cut = text.slice(0, text.lastIndexOf("\n", room));
  const fences = [...cut.matchAll(/^(`{3,})\w*$/gm)].map(([, ticks = ""]) => ticks);
  const open = fences.reduce<string | undefined>((current, ticks) => {
    if (current === undefined) return ticks;
    return ticks.length >= current.length ? undefined : current;
  }, undefined);
  const details = cut.split("<details>").length - cut.split("</details>").length;
  return `${cut}${open ? `\n${open}` : ""}${"\n</details>".repeat(Math.max(0, Math.min(details, 20)))}${end}`;
}
