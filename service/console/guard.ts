import type { IncomingHttpHeaders } from "node:http";
import { isLoopback } from "../base/addresses";
import { ServiceError } from "../base/error";

/** The origins under which a service's own page is loaded: that which it gives others, and this machine's names. */
export function ownOrigins(urls: readonly string[]): ReadonlySet<string> {
  return new Set(
    urls
      .filter((url) => url !== "")
      .flatMap((url) => {
        const { origin, hostname, protocol, port } = new URL(url);
        const names = isLoopback(hostname) ? ["localhost", "127.0.0.1", "[::1]"] : [];
        return [origin, ...names.map((name) => new URL(`${protocol}//${name}:${port}`).origin)];
      }),
  );
}

/** Refuses requests that were sent to another name, as after DNS rebinding; the port may be that of a forwarding. */
export function checkHost({ host = "" }: IncomingHttpHeaders, own: ReadonlySet<string>): void {
  const [, name = ""] = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(host.toLowerCase()) ?? [];
  const known = new Set([...own].map((origin) => new URL(origin).hostname));
  if (known.has(name) || isLoopback(name)) return;
  throw new ServiceError(
    "FORBIDDEN",
    "The console answers under its own names only; where people reach it under another one, start the service with " +
      "--public-url and that address.",
  );
}

/** Refuses what another page had the browser send. */
export function checkOrigin(method: string, headers: IncomingHttpHeaders, own: ReadonlySet<string>): void {
  const { origin, "sec-fetch-site": site } = headers;
  const isOwn = origin === undefined ? method === "GET" : own.has(origin);
  if (isOwn && (site === undefined || site === "same-origin")) return;
  throw new ServiceError(
    "FORBIDDEN",
    `Only the console's own page may call this. It is at ${[...own][0]}; where people reach it under another address, ` +
      "start the service with --public-url and that address.",
  );
}
