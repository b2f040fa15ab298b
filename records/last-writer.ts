import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { possibleAddresses } from "../client/address";
import type { Client } from "../client/client";
import { digest, readIfPossible, replaceFile, stateDirectory } from "../client/state-directory";

/**
 * Local files with the token of the upload or deletion that last changed the records of a dataset. There is one file for
 * each address of the service, because the other writer may have used another name of this machine.
 */
export class LastWriter {
  readonly #paths: readonly string[];

  constructor({ service }: Pick<Client, "service">, datasetId: string) {
    this.#paths = possibleAddresses(service).map((address) =>
      join(stateDirectory("uploads"), `${digest([address, datasetId])}.writer`),
    );
  }

  /** Token of the last upload. A deletion writes a token that no upload has, and so does a writer at another address. */
  get token(): string | undefined {
    const [own, ...others] = this.#paths.map(tokenIn);
    // A version before 0.2.0 has written only the file of its own address.
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
