import { basename } from "node:path";
import { isOnThisMachine } from "../../client/address";
import { SourceError } from "../formats/row";
import { download, strongTag, withConnections } from "./download";
import type { RemoteSource } from "./remote-source";
import { plainAddress, type Reply, type SourceRequest, send } from "./request";

/**
 * Returns a source at an https:// address. Servers on this machine can also use http://. The environment can contain a
 * bearer token for the host, which is sent to no other host.
 */
export function httpSource(address: string): RemoteSource {
  const url = parsed(address);
  const displayName = plainAddress(url);
  const request = (method: SourceRequest["method"], headers?: Readonly<Record<string, string>>) => {
    const credentials = async () => authorizationFor(url);
    return { method, url, credentials, ...(headers && { headers }) };
  };
  return {
    displayName,
    fileName: basename(url.pathname),
    version: () =>
      withConnections(async (http) => {
        const reply = await send(request("HEAD"), http);
        await reply.body.dump();
        return reply.statusCode === 200 ? strongTag(reply) : undefined;
      }).catch(() => undefined),
    copyTo: (copy) =>
      download(
        {
          displayName,
          url,
          get: (http, headers) => send(request("GET", headers), http),
          problemOf: async (reply) => problemOf(url, reply),
        },
        copy,
      ),
  };
}

function parsed(address: string): URL {
  if (!URL.canParse(address)) throw new Error("source is not a valid address");
  const url = new URL(address);
  if (url.username || url.password)
    throw new SourceError(
      plainAddress(url),
      `remove the user and password, because the state would contain them; set ${tokenVariable(url)} to a bearer token`,
    );
  if (url.protocol === "http:" && !isOnThisMachine(url.href))
    throw new SourceError(plainAddress(url), "is not encrypted; use an https:// address");
  return url;
}

/** Returns the variable with the bearer token of a host. */
export function tokenVariable({ host }: URL): string {
  return `RECOMMENDER_SOURCE_TOKEN_${host.replaceAll("-", "__").replaceAll(/[^\w]/g, "_")}`;
}

function tokenFor(url: URL): string | undefined {
  const wanted = tokenVariable(url).toLowerCase();
  const name = Object.keys(process.env).find((known) => known.toLowerCase() === wanted);
  return name && process.env[name] ? process.env[name] : undefined;
}

function authorizationFor(url: URL): Readonly<Record<string, string>> {
  const token = tokenFor(url);
  if (token === undefined) return {};
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(`${tokenVariable(url)} is not a valid bearer token`);
  return { authorization: `Bearer ${token}` };
}

function problemOf(start: URL, { statusCode, url }: Reply): string | undefined {
  const isRedirected = url.origin !== start.origin;
  const variable = tokenVariable(start);
  if ([401, 403, 407].includes(statusCode)) {
    if (isRedirected)
      return (
        `redirects to ${url.host}, which responds with ${statusCode}; ` +
        "no token is sent to another host, so set source to an address on that host"
      );
    if (tokenFor(start) === undefined)
      return `needs credentials (${statusCode}); set ${variable} to a bearer token`;
    return `does not accept the token in ${variable} (${statusCode}); set another one`;
  }
  if (statusCode === 404 || statusCode === 410)
    return `${isRedirected ? `redirects to ${url.host}, where it ` : ""}does not exist (${statusCode}); check the address`;
  if (statusCode === 408 || statusCode === 425 || statusCode === 429 || statusCode >= 500) return undefined;
  return `${url.host} responds with ${statusCode}, not with the content; check the address`;
}
