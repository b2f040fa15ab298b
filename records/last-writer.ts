import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { possibleAddresses } from "../client/address";
import type { Client } from "../client/client";
import { digest, readIfPossible, replaceFile, stateDirectory } from "../client/state-directory";

/**
 * Local files with the token of the upload or deletion that last changed the records of a dataset. There is one file
 * for each address of the service, because another writer may have used a different name of this machine.
 */
export class LastWriter {
  readonly #paths: readonly string[];

  constructor({ service }: Pick<Client, "service">, datasetId: string) {
    this.#paths = possibleAddresses(service).map((address) =>
      join(stateDirectory("uploads"), `${digest([address, datasetId])}.writer`),
    );
  }

  /** Token of the last upload or deletion. A deletion has a token that belongs to no upload. */
  get token(): string | undefined {
    const [own, ...others] = this.#paths.map(tokenIn);
    // Versions before 0.2.0 wrote only the file of their own address, so a different token in another file counts as
    // newer.
    return others.find((token) => token !== undefined && token !== own) ?? own;
  }

  /** Writes the token of an upload. Pass no token for any other change of the records. */
  write(token: string = randomUUID()): void {
    for (const path of this.#paths) if (tokenIn(path) !== token) replaceFile(path, `${token}\n`);
  }
}

function tokenIn(path: string): string | undefined {
  return readIfPossible(path)?.trim();
}
