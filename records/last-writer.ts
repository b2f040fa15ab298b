import { createHash, randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Client } from "../client/client";
import { createDirectory, stateDirectory } from "../client/state-directory";

/** Notes on this machine which upload or deletion changed the records of a dataset last. */
export class LastWriter {
  readonly #path: string;

  constructor({ service }: Pick<Client, "service">, datasetId: string) {
    const name = createHash("sha256")
      .update(JSON.stringify([service, datasetId]))
      .digest("hex");
    this.#path = join(stateDirectory("uploads"), `${name.slice(0, 32)}.writer`);
  }

  /** The token of the last upload; a deletion has a token that no upload has. */
  get token(): string | undefined {
    try {
      return readFileSync(this.#path, "utf8").trim();
    } catch {
      return undefined;
    }
  }

  /** Notes an upload, or without a token anything else that changes records. */
  note(token: string = randomUUID()): void {
    if (this.token === token) return;
    createDirectory(dirname(this.#path));
    const next = `${this.#path}.${process.pid}`;
    writeFileSync(next, `${token}\n`, { mode: 0o600 });
    renameSync(next, this.#path);
  }
}
