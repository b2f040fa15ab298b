import type { Dispatcher } from "undici";
import { isOnThisMachine } from "../../client/address";
import { SourceError } from "../formats/row";

const maxRedirects = 5;

/** Variable that sets how long a server may send nothing. */
export const timeoutVariable = "RECOMMENDER_SOURCE_TIMEOUT_MS";

/** Response to a request, after redirects. */
export interface Reply extends Dispatcher.ResponseData {
  /** Address that sent the response. */
  readonly url: URL;
}

/** Request for a source. */
export interface SourceRequest {
  readonly method: "GET" | "HEAD";
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers with credentials. They are sent to the host of `url` only, never to the target of a redirect. */
  credentials?(): Promise<Readonly<Record<string, string>>>;
}

/** Returns an address for messages, without its user, password and query, which may be secret. */
export function plainAddress({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}

/** Returns how long a server may send nothing, in milliseconds. */
export function idleTimeoutMs(env: NodeJS.ProcessEnv = process.env): number {
  const given = env[timeoutVariable] || "60000";
  const milliseconds = Number(given);
  if (Number.isInteger(milliseconds) && milliseconds > 0) return milliseconds;
  throw new Error(
    `${timeoutVariable} must be a number of milliseconds above 0, not ${JSON.stringify(given)}`,
  );
}

/** Sends a request and follows redirects. Throws if a redirect leads to an address without encryption. */
export async function send(request: SourceRequest, http: Dispatcher): Promise<Reply> {
  const { method, headers } = request;
  let { url } = request;
  for (let count = 0; ; count++) {
    const own = url.origin === request.url.origin ? await request.credentials?.() : undefined;
    const { origin, pathname, search } = url;
    const options = { origin, path: pathname + search, method, headers: { ...headers, ...own } };
    const reply = await http.request(options);
    const location = reply.statusCode >= 300 && reply.statusCode < 400 && reply.headers.location;
    if (!location) return { ...reply, url };
    await reply.body.dump();
    const next = URL.canParse(String(location), url.href) ? new URL(String(location), url) : undefined;
    url = acceptedRedirect(request.url, next, count);
  }
}

function acceptedRedirect(start: URL, next: URL | undefined, count: number): URL {
  const name = plainAddress(start);
  if (!next) throw new SourceError(name, "redirects to an invalid address; set source to the right one");
  if (count >= maxRedirects)
    throw new SourceError(name, `redirects more than ${maxRedirects} times; set source to the final address`);
  const isLocal = isOnThisMachine(start.href) && isOnThisMachine(next.href);
  if (next.protocol === "https:" || (next.protocol === "http:" && isLocal)) return next;
  throw new SourceError(
    name,
    `redirects to ${plainAddress(next)}, which is not encrypted; set source to an https:// address`,
  );
}

/** Returns the reason for a failed connection, with the step to take. */
export function connectionProblem({ host }: URL, error: NodeJS.ErrnoException): string {
  const { code = "", message } = (error.cause as NodeJS.ErrnoException | undefined) ?? error;
  if (/HEADERS_TIMEOUT|BODY_TIMEOUT|CONNECT_TIMEOUT/.test(code))
    return `${host} sent nothing for ${idleTimeoutMs() / 1000} s; try again later or raise ${timeoutVariable}`;
  if (/ENOTFOUND|EAI_AGAIN/.test(code)) return `the host ${host} was not found; check the address`;
  if (/UND_ERR_SOCKET|ECONNRESET|EPIPE/.test(code))
    return `${host} closed the connection; run the command again later`;
  if (/CERT|SIGNED|TLS|SSL/.test(code))
    return `${host} has no certificate that this machine trusts (${code}); set NODE_EXTRA_CA_CERTS to its authority`;
  return `${host} cannot be reached (${code || message}); check the address and the network`;
}
