import { existsSync } from "node:fs";
import type { Client } from "../client/client";
import { ignoreHint } from "../client/git-ignore";
import { digest } from "../client/state-directory";
import { formatUpload, uploadHeader } from "../contract/upload";
import { assertFits } from "./capacity";
import { LastWriter } from "./last-writer";
import { Pass } from "./pass";
import { Plan } from "./plan";
import { assertRejectsFile } from "./rejects-file";
import { skipModeOf } from "./skip-mode";
import { bytesIn } from "./source";
import { type FinishedUpload, UploadJournal } from "./upload-journal";
import type { UploadOptions, UploadResult } from "./upload-options";

/** Uploads a source. Skips batches that the dataset is known to contain. */
export async function upload(options: UploadOptions): Promise<UploadResult> {
  const { files, kind, mapping, client, datasetId, contentHash, numShards, history = {} } = options;
  await assertRejectsFile(options.rejectsFile, files);
  if (numShards !== undefined) await assertFits(files, kind, mapping, numShards);
  const journal = new UploadJournal(
    { service: client.service, datasetId, source: options.owner },
    (problem) =>
      options.onUnresumable?.(
        `Cannot record the progress of the upload (${problem}): if it is interrupted, it starts over. ` +
          "Set XDG_STATE_HOME to a writable directory.",
      ),
  );
  const { finished, open } = journal;
  const { token: lastWriter } = new LastWriter(client, datasetId);
  const known = { ...history, contentHash, finished, open, writer: lastWriter };
  const mode = options.force ? "nothing" : skipModeOf(known);
  const token = journal.begin(contentHash, mode, history.recorded);
  const writer = new Writer(options, journal, token);
  const basis = history.recorded ?? firstBasis(options.owner);
  const headers = options.isAnnounced ? announcement(basis, token) : undefined;
  const pass = (plan: Plan) => Pass.run({ ...options, headers }, plan, () => writer.begin());
  try {
    let plan = new Plan(journal, bytesIn(files));
    let uploaded = await pass(plan);
    if (plan.mustRestart) {
      journal.restart();
      plan = new Plan(journal, bytesIn(files));
      uploaded = await pass(plan);
    }
    const { recordCount, failedCount } = uploaded;
    journal.finish({ recordCount, failedCount }, plan.outcomes);
    writer.finish();
    return { ...uploaded, token };
  } finally {
    journal.close();
    // Each upload first removes the rejects file, so an existing file is from this upload.
    const hint = existsSync(options.rejectsFile)
      ? await ignoreHint(options.rejectsFile, "rejected records")
      : undefined;
    if (hint) options.onHint?.(hint);
  }
}

/**
 * Returns the header that announces an upload with every batch. Undefined if this upload is already recorded.
 */
function announcement(basis: string, token: string): Record<string, string> | undefined {
  return basis === token ? undefined : { [uploadHeader]: formatUpload({ basis, token }) };
}

/**
 * Returns the basis of a first upload of a source. It is the same in every run, so an upload after a killed first one
 * replaces it, and the service rejects the batches of the killed upload that arrive late.
 */
function firstBasis(owner: string): string {
  return `first-${digest([owner])}`;
}

/** Returns the last complete upload of a source, if nothing else on this machine has changed the dataset since. */
export function finishedUpload(client: Client, datasetId: string, owner: string): FinishedUpload | undefined {
  const { service } = client;
  const { finished, open } = new UploadJournal({ service, datasetId, source: owner });
  if (open || finished?.token !== new LastWriter(client, datasetId).token) return undefined;
  return finished;
}

/** Records this upload as the last writer of the dataset, before the first batch is sent and at the end. */
class Writer {
  #hasBegun = false;
  readonly #last: LastWriter;

  constructor(
    readonly options: UploadOptions,
    readonly journal: UploadJournal,
    readonly token: string,
  ) {
    this.#last = new LastWriter(options.client, options.datasetId);
  }

  begin(): void {
    this.journal.sending();
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#write(this.token);
    this.options.onSending?.(this.token);
  }

  finish(): void {
    const { token } = this.#last;
    if (!this.#hasBegun && token === this.options.history?.recorded) this.#write(this.token);
    // Another upload ran concurrently, so it is unknown whose records the dataset contains.
    else if (this.#hasBegun && token !== this.token) this.#write(undefined);
  }

  #write(token: string | undefined): void {
    try {
      this.#last.write(token);
    } catch {
      // The journal is in the same directory and reports this problem.
    }
  }
}
