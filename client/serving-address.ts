import { z } from "zod";

const address = z.string().nullish();
const addresses = z.object({ servingUri: address, stableServingUri: address });
/** The parts of a reply that contain the address of a project's recommendation service. */
const naming = addresses.extend({ jobResult: addresses.nullish().catch(undefined) });

/**
 * Decides to which serving addresses a client may send its credentials. A `serving_uri` can come from the state of
 * another stack, or from a service behind a TLS proxy that reports its http: address.
 */
export class ServingAddresses {
  readonly #base: URL;
  /** Origins that the service has named in replies to this client. */
  readonly #named = new Set<string>();

  constructor(baseUrl: string) {
    this.#base = new URL(baseUrl);
  }

  /** Remembers the serving addresses in a reply of the service. */
  learn(reply: unknown): void {
    const { data } = naming.safeParse(reply);
    for (const uri of [data, data?.jobResult].flatMap((part) => [part?.servingUri, part?.stableServingUri]))
      if (uri && URL.canParse(uri)) this.#named.add(new URL(uri).origin);
  }

  /**
   * Returns the address to call for a `serving_uri`, or undefined if only the base address may be called. If the
   * service uses https:, an http: address at the same host becomes https:.
   */
  addressOf(servingUri: string): string | undefined {
    if (!/^https?:/.test(servingUri) || !URL.canParse(servingUri)) return undefined;
    const url = new URL(servingUri);
    if (url.origin === this.#base.origin) return servingUri;
    const isDowngrade = this.#base.protocol === "https:" && url.protocol === "http:";
    if (isDowngrade)
      return url.hostname === this.#base.hostname ? this.#base.origin + url.pathname : undefined;
    return this.#named.has(url.origin) ? servingUri : undefined;
  }
}
