/** Under which addresses a service is reached; its own is known once it listens. */
export class Addresses {
  /** The base address on this machine. */
  localUrl = "";

  constructor(private readonly publicUrl?: string) {}

  /** The base address that callers get. */
  get url(): string {
    return this.publicUrl?.replace(/\/+$/, "") ?? this.localUrl;
  }

  /** The address under which a project's recommendation call is reached; the specification shows none. */
  servingUri(projectId: string): string {
    return `${this.url}/serving/${projectId}`;
  }

  /** The address of a stack's deployment, which stays the same when its project is replaced. */
  stableServingUri(address: string): string {
    return `${this.url}/serving/stack/${address}`;
  }
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

/** Whether an address, or the name of a host or an interface, leads to this machine alone. */
export function isLoopback(address: string): boolean {
  return loopback.test(URL.canParse(address) ? new URL(address).hostname : address);
}
