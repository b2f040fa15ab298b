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
}
