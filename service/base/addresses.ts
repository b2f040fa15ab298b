/** Base URLs of a service. */
export class Addresses {
  /** The base URL on this machine; empty until the service listens. */
  localUrl = "";

  constructor(private readonly publicUrl?: string) {}

  /** The base URL in responses. */
  get url(): string {
    return this.publicUrl?.replace(/\/+$/, "") ?? this.localUrl;
  }

  /** Returns the address of a project's recommendation call. The specification gives no format for it. */
  servingUri(projectId: string): string {
    return `${this.url}/serving/${projectId}`;
  }

  /** Returns the address of a stack's deployment, which stays the same when the stack replaces its project. */
  stableServingUri(address: string): string {
    return `${this.url}/serving/stack/${address}`;
  }
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

/** Whether an address (a URL, a host name or an IP address) can only be reached from this machine. */
export function isLoopback(address: string): boolean {
  return loopback.test(URL.canParse(address) ? new URL(address).hostname : address);
}
