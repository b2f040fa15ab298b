import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import type { FastifyInstance } from "fastify";
import { type Folder, readPort, writeWhole } from "../files/folder";

/** Listens and gives the base address. The port is chosen once per folder, so that a serving_uri stays true. */
export async function listen(
  app: FastifyInstance,
  folder: Folder,
  { port = 0, host = "127.0.0.1", publicUrl }: { port?: number; host?: string; publicUrl?: string },
  warnings: string[],
): Promise<string> {
  const kept = readPort(folder);
  try {
    await app.listen({ port: port || kept || 0, host });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    if (port)
      throw new Error(`The port ${port} is in use; give another one with --port, or 0 for a free one.`, {
        cause: error,
      });
    // Better a service at another port, said aloud, than none: only addresses handed out earlier are stale.
    await app.listen({ port: 0, host });
    warnings.push(
      `The port ${kept} of this folder is taken by another program; a new one was chosen, and serving addresses handed out before no longer hold.`,
    );
  }
  const chosen = (app.server.address() as AddressInfo).port;
  if (chosen !== kept) writeWhole(folder.portFile, `${chosen}\n`);
  const everywhere = host === "0.0.0.0" || host === "::";
  if (everywhere && publicUrl === undefined) {
    warnings.push(
      "The addresses in answers (serving_uri, download_url) begin with http://127.0.0.1, which other machines " +
        `cannot reach; give the one that they use, as in --public-url http://${hostname()}:${chosen}.`,
    );
  }
  const name = everywhere ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${chosen}`;
}
