import { existsSync } from "node:fs";
import type { Client } from "../client/client";
import { ignoreHint } from "../client/git-ignore";
import { assertFits } from "./capacity";
import { LastWriter } from "./last-writer";
import { Pass } from "./pass";
import { Plan } from "./plan";
import { assertRejectsFile } from "./rejects-file";
import { bytesIn } from "./source";
import { trustIn } from "./trust";
import { type FinishedUpload, UploadJournal } from "./upload-journal";
import type { Upload, Uploaded } from "./upload-order";

/** Uploads a source: what the dataset does not hold already, as far as that is known. */
export async function upload(order: Upload): Promise<Uploaded> {
  const { files, kind, mapping, client, datasetId, contentHash, numShards, evidence = {} } = order;
  await assertRejectsFile(order.rejectsFile, files);
  if (numShards !== undefined) await assertFits(files, kind, mapping, numShards);
  const journal = new UploadJournal({ service: client.service, datasetId, source: order.owner }, (problem) =>
    order.onUnresumable?.(
      `Cannot record the progress of the upload (${problem}): if it is interrupted, it starts over. ` +
        "Set XDG_STATE_HOME to a folder that can be written to.",
    ),
  );
  const { finished, open } = journal;
  const { token: lastWriter } = new LastWriter(client, datasetId);
  const known = { ...evidence, contentHash, finished, open, writer: lastWriter };
  const trust = order.force ? "nothing" : trustIn(known);
  const token = journal.begin(contentHash, trust, evidence.recorded);
  const writer = new Writer(order, journal, token);
  try {
    let plan = new Plan(journal, bytesIn(files));
    let uploaded = await new Pass(order, plan, () => writer.begin()).all();
    if (plan.mustBeginAgain) {
      journal.beginAgain();
      plan = new Plan(journal, bytesIn(files));
      uploaded = await new Pass(order, plan, () => writer.begin()).all();
    }
    const { recordCount, failedCount } = uploaded;
    journal.finish({ recordCount, failedCount }, plan.outcomes);
    writer.finish();
    return { ...uploaded, token };
  } finally {
    journal.close();
    // Each upload begins by removing the file, so this upload has written it.
    const hint = existsSync(order.rejectsFile)
      ? await ignoreHint(order.rejectsFile, "rejected records")
      : undefined;
    if (hint) order.onHint?.(hint);
  }
}

/** The last complete upload of a source into a dataset, if no other command of this machine has written to it since. */
export function finishedUpload(client: Client, datasetId: string, owner: string): FinishedUpload | undefined {
  const { service } = client;
  const { finished, open } = new UploadJournal({ service, datasetId, source: owner });
  if (open || finished?.token !== new LastWriter(client, datasetId).token) return undefined;
  return finished;
}

/** Notes who writes: before the first batch is sent, and at the end of the upload. */
class Writer {
  #hasBegun = false;
  readonly #last: LastWriter;

  constructor(
    readonly order: Upload,
    readonly journal: UploadJournal,
    readonly token: string,
  ) {
    this.#last = new LastWriter(order.client, order.datasetId);
  }

  begin(): void {
    this.journal.sending();
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#note(this.token);
    this.order.onSending?.(this.token);
  }

  finish(): void {
    const { token } = this.#last;
    if (!this.#hasBegun && token === this.order.evidence?.recorded) this.#note(this.token);
    // Another upload ran at the same time: neither knows which records won.
    else if (this.#hasBegun && token !== this.token) this.#note(undefined);
  }

  #note(token: string | undefined): void {
    try {
      this.#last.note(token);
    } catch {
      // The journal lies in the same folder and reports that it cannot be written.
    }
  }
}
