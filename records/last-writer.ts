import { createHash, randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Client } from "../client/client";
import { createDirectory, stateDirectory } from "../client/state-directory";

/** Local file with the token of the upload or deletion that last changed the records of a dataset. */
export class LastWriter {
  readonly #path: string;

  constructor({ service }: Pick<Client, "service">, datasetId: string) {
    const name = createHash("sha256")
      .update(JSON.stringify([service, datasetId]))
      .digest("hex");
    this.#path = join(stateDirectory("uploads"), `${name.slice(0, 32)}.writer`);
  }

  /** Token of the last upload. A deletion writes a token that no upload has. */
  get token(): string | undefined {
    try {
      return readFileSync(this.#path, "utf8").trim();
    } catch {
      return undefined;
    }
  }

  /** Writes the token of an upload. Pass no token for any other change of the records. */
  write(token: string = randomUUID()): void {
    if (this.token === token) return;
    createDirectory(dirname(this.#path));
    const next = `${this.#path}.${process.pid}`;
    writeFileSync(next, `${token}\n`, { mode: 0o600 });
    renameSync(next, this.#path);
  }
}
