import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from "node:net";

/** A way to the database that can be cut, or fall silent. */
export class Cable {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async to(databaseUrl: string): Promise<Cable> {
    const { hostname, port } = new URL(databaseUrl);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cable = new Cable(server, url.href);
    server.on("connection", (near) => cable.join(near, dial(Number(port), hostname)));
    return cable;
  }

  private join(near: Socket, far: Socket): void {
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }

  /** Passes nothing on any more over the connections that there are, as a host that is gone. */
  silence(): void {
    for (const socket of this.sockets) socket.unpipe().pause();
  }

  /** Ends all connections, as a network that fails does. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  close(): void {
    this.server.close();
    this.cut();
  }
}
