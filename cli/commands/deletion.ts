import type { Client } from "../../client/client";
import { LastWriter } from "../../records/last-writer";
import { note } from "../terminal/output";

/** Records a deletion from a dataset, so the next import sends all records again instead of only changed batches. */
export function recordDeletion(client: Client, datasetId: string): void {
  try {
    new LastWriter(client, datasetId).write();
  } catch (error) {
    const problem = (error as Error).message;
    note(`Cannot record the deletion: ${problem}. To import these records again, use --force.`);
  }
}
