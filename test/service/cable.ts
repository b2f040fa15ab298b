import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from "node:net";

/** A way to the database that can be cut, fall silent, or lead to another server. */
export class Cable {
  private readonly sockets = new Set<Socket>();
  private isSilent = false;

  private constructor(
    private readonly server: Server,
    readonly url: string,
    private target: URL,
  ) {}

  static async to(databaseUrl: string): Promise<Cable> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cable = new Cable(server, url.href, new URL(databaseUrl));
    server.on("connection", (near) => cable.accept(near));
    return cable;
  }

  private accept(near: Socket): void {
    const { hostname, port } = this.target;
    if (!this.isSilent) this.join(near, dial(Number(port), hostname));
    else {
      this.sockets.add(near);
      near.on("error", () => undefined);
      near.on("close", () => this.sockets.delete(near));
    }
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

  /** Leads new connections to another server; open ones stay with the old server. */
  lead(databaseUrl: string): void {
    this.target = new URL(databaseUrl);
  }

  /** Passes nothing on any more over the connections that there are, as a host that is gone. */
  silence(): void {
    for (const socket of this.sockets) socket.unpipe().pause();
  }

  /** Passes nothing on over new connections either, until the cable speaks again. */
  fallSilent(): void {
    this.isSilent = true;
    this.silence();
  }

  /** Ends the silence: connections that fell silent are closed, new ones work. */
  speak(): void {
    this.isSilent = false;
    this.cut();
  }

  /** Ends all connections, or the one that the database knows by a port, as a network that fails does. */
  cut(port?: number): void {
    for (const socket of this.sockets) if (port === undefined || socket.localPort === port) socket.destroy();
  }

  close(): void {
    this.server.close();
    this.cut();
  }
}
