import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from "node:net";

/** A proxy to the database that can be cut, stop responding, or switch to another server. */
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

  /** Sends new connections to another server. Open ones stay with the old server. */
  lead(databaseUrl: string): void {
    this.target = new URL(databaseUrl);
  }

  /** Stops forwarding data on open connections, like a host that has crashed. */
  silence(): void {
    for (const socket of this.sockets) socket.unpipe().pause();
  }

  /** Stops forwarding data on new connections too, until `speak` is called. */
  fallSilent(): void {
    this.isSilent = true;
    this.silence();
  }

  /** Resumes: closes the silent connections, and forwards new ones. */
  speak(): void {
    this.isSilent = false;
    this.cut();
  }

  /** Closes all connections, or the one with a port, like a failing network. */
  cut(port?: number): void {
    for (const socket of this.sockets) if (port === undefined || socket.localPort === port) socket.destroy();
  }

  close(): void {
    this.server.close();
    this.cut();
  }
}
