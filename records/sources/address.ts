import { httpSource } from "./http";
import { postgresSource } from "./postgres";
import type { RemoteSource } from "./remote-source";
import { s3Source } from "./s3";

const kinds: Readonly<Record<string, (address: string) => RemoteSource>> = {
  http: httpSource,
  https: httpSource,
  s3: s3Source,
  postgres: postgresSource,
  postgresql: postgresSource,
};

/** Returns the remote source at an address. Undefined if the source is a path or a glob. */
export function remoteSourceAt(source: string): RemoteSource | undefined {
  // A scheme has at least two letters, because C: is a drive.
  const [, scheme] = /^([a-z][a-z\d+.-]+):\/\//i.exec(source) ?? [];
  if (scheme === undefined) return undefined;
  const kind = kinds[scheme.toLowerCase()];
  if (kind) return kind(source);
  throw new Error(
    `cannot read ${scheme}:// addresses; use https://, s3:// or postgres://, or download the source and set its path`,
  );
}

/** Removes the address of a remote source from a message, because the address is secret. */
export function withoutAddress(message: string, source: string): string {
  if (!URL.canParse(source)) return message;
  const { protocol, username, host, hostname, pathname } = new URL(source);
  const addresses = [source, `${protocol}//${username ? `${username}@` : ""}${host}${pathname}`];
  const shown = [`${protocol}//${host}${pathname}`, pathname.length > 1 ? pathname : "", host, hostname];
  return [...addresses, ...shown]
    .filter((part) => part !== "")
    .reduce((text, part) => text.replaceAll(part, "[source]"), message);
}
