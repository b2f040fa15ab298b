import type { IncomingHttpHeaders } from "node:http";
import { isLoopback } from "../base/addresses";
import { ServiceError } from "../base/error";

/** Returns the origins of the console's page. A loopback address also allows localhost, 127.0.0.1 and [::1]. */
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

/**
 * Rejects requests to other host names, to prevent DNS rebinding. Any port is allowed, because ports may be forwarded.
 */
export function checkHost({ host = "" }: IncomingHttpHeaders, own: ReadonlySet<string>): void {
  const [, name = ""] = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(host.toLowerCase()) ?? [];
  const known = new Set([...own].map((origin) => new URL(origin).hostname));
  if (known.has(name) || isLoopback(name)) return;
  throw new ServiceError(
    "FORBIDDEN",
    "The console does not respond under this host name. To use another address, start the service with --public-url " +
      "and that address.",
  );
}

/** Rejects requests that another web page made the browser send. */
export function checkOrigin(method: string, headers: IncomingHttpHeaders, own: ReadonlySet<string>): void {
  const { origin, "sec-fetch-site": site } = headers;
  const isOwn = origin === undefined ? method === "GET" : own.has(origin);
  if (isOwn && (site === undefined || site === "same-origin")) return;
  throw new ServiceError(
    "FORBIDDEN",
    `Only the console's own page can send this request. The page is at ${[...own][0]}. To use another address, start the ` +
      "service with --public-url and that address.",
  );
}
