import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import type { FastifyInstance } from "fastify";
import { type DataDirectory, readPort, writeAtomically } from "../files/data-directory";

/** Starts to listen, and returns the base URL. A data directory keeps its port, so a serving_uri stays valid. */
export async function listen(
  app: FastifyInstance,
  dataDirectory: DataDirectory,
  { port = 0, host = "127.0.0.1", publicUrl }: { port?: number; host?: string; publicUrl?: string },
  warnings: string[],
): Promise<string> {
  const storedPort = readPort(dataDirectory);
  try {
    await app.listen({ port: port || storedPort || 0, host });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    if (port)
      throw new Error(`Port ${port} is in use. Set another one with --port, or 0 for a free one.`, {
        cause: error,
      });
    // Only serving addresses from earlier responses become invalid, so a new port with a warning is better than an
    // error.
    await app.listen({ port: 0, host });
    warnings.push(
      `Another program uses port ${storedPort}, so the service chose a new port. Serving addresses from earlier responses are no longer valid.`,
    );
  }
  const chosen = (app.server.address() as AddressInfo).port;
  if (chosen !== storedPort) writeAtomically(dataDirectory.portFile, `${chosen}\n`);
  const everywhere = host === "0.0.0.0" || host === "::";
  if (everywhere && publicUrl === undefined) {
    warnings.push(
      "Addresses in responses (serving_uri, download_url) begin with http://127.0.0.1, which other machines " +
        `cannot reach. Set the address that they use, for example --public-url http://${hostname()}:${chosen}.`,
    );
  }
  const name = everywhere ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${chosen}`;
}
