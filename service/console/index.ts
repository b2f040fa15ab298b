// console/ serves the web console: its files, the sign-in, and the data of its screens. It is loaded when somebody
// first opens the page.

import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { routes } from "../../contract";
import { disconnectSignal } from "../base/disconnect";
import { notFound, ServiceError, shortened } from "../base/error";
import type { Context } from "../handlers/handler";
import { withoutPassword } from "../store/address";
import type { Db } from "../store/database";
import { untilAborted } from "../store/postgres-pool";
import { compareModels } from "./compare";
import { datasetResponse } from "./datasets/dataset";
import { recordResponse, recordsPage } from "./datasets/records";
import { checkHost, checkOrigin, ownOrigins } from "./guard";
import { jobResponse, liveLines } from "./jobs";
import { overview } from "./overview/overview";
import { sendPage } from "./pages";
import { askingResponse, resultResponse } from "./questions";
import { jobsOf, type ModelRow, modelsById, modelsOf, projectChoices } from "./rows";
import { servingResponse } from "./serving";
import { type Access, requireScope, Sessions, type Visitor } from "./sessions";
import { suggest, tryOut } from "./try";

/** The header with the session's token, which is required in addition to the cookie. */
const tokenHeader = "x-console-token";

type Query = Readonly<Record<string, string | undefined>>;
/** Returns the data of a screen. The signal is aborted when the caller disconnects. */
type View = (context: Context, query: Query, signal: AbortSignal, body: unknown) => Promise<unknown>;

/** Parses a positive integer that fits into an integer column of every database. */
function positiveInteger(text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d{0,8}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new ServiceError("BAD_REQUEST", `${shortened(text)} must be a whole number from 1 to 999999999.`);
}
/** Parses a JSON list of texts. Commas cannot separate ids, because ids may contain commas. */
function parseTexts(json: string): string[] {
  try {
    return (JSON.parse(json) as unknown[]).map(String);
  } catch {
    throw new ServiceError("BAD_REQUEST", "users must be a JSON list.");
  }
}

/** Returns the query parameters as texts. Joins repeated parameters, and removes NUL, which PostgreSQL rejects. */
function queryTexts(query: unknown): Query {
  const given = Object.entries(query as object);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value).replaceAll("\0", "")]));
}

const kindOf = (text: string | undefined) => (text === "item" ? "item" : "user");

const statusScope = "/status";
/** Scope for reading records. No API operation reads records, so this is the scope for reading a dataset. */
const recordsScope = routes.getEventDataset.path;
const jobScope = routes.getJob.path;
const recommendScope = routes.recommendItemsToUser.path;

/** Requests for the data of the screens. Each requires the scope of the API call that returns similar data. */
const views: Readonly<Record<string, readonly [scope: string, view: View]>> = {
  "GET overview": [
    statusScope,
    (context, { orphans }) => overview(context, { withOrphans: orphans === "shown" }),
  ],
  "GET jobs": [
    statusScope,
    ({ store }, { project, type, status, search, page }) =>
      jobsOf(store.db, { projectId: project, type, status, search, before: positiveInteger(page) }),
  ],
  "GET job": [jobScope, (context, { id = "" }) => jobResponse(context, id)],
  "GET models": [
    statusScope,
    ({ store }, { project = "", search, page, limit }) =>
      modelsOf(store.db, {
        projectId: project,
        search,
        before: positiveInteger(page),
        limit: Math.min(200, positiveInteger(limit) ?? 50),
      }),
  ],
  "GET model": [statusScope, ({ store }, { id = "" }) => modelResponse(store.db, id)],
  "GET compare": [
    recommendScope,
    (context, { models = "", users = "[]" }, signal) =>
      compareModels(context, models.split(","), parseTexts(users), signal),
  ],
  "GET asking": [recordsScope, (context, { project = "" }) => askingResponse(context, project)],
  "GET result": [jobScope, (context, { id = "" }) => resultResponse(context, id)],
  "GET serving": [statusScope, (context, { project = "" }) => servingResponse(context, project)],
  "GET dataset": [recordsScope, (context, { id = "" }) => datasetResponse(context, id)],
  "GET records": [
    recordsScope,
    (context, { id = "", search, page }, signal) => recordsPage(context, { id, search, after: page }, signal),
  ],
  "GET record": [
    recordsScope,
    (context, { dataset = "", kind, id = "" }, signal) =>
      recordResponse(context, dataset, kindOf(kind), id, signal),
  ],
  "GET suggest": [
    recordsScope,
    (context, { project = "", kind, text = "" }) => suggest(context, project, kindOf(kind), text),
  ],
  "POST try": [recommendScope, (context, _query, _signal, body) => tryOut(context, body)],
};

async function modelResponse(db: Db, id: string): Promise<ModelRow> {
  const model = (await modelsById(db, [id])).get(id);
  if (!model) throw notFound("model", id, "it may have been deleted");
  return model;
}

/** Handles all requests for `/` and `/console/`. */
export async function handleRequest(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { method, headers } = request;
  const own = originsOf(context);
  checkHost(headers, own);
  const path = (request.url.split("?")[0] as string).replace(/^\/(console\/)?/, "");
  if (method === "GET" && !path.startsWith("api/")) return sendPage(path || "index.html", request, reply);
  checkOrigin(method, headers, own);
  reply.header("cache-control", "no-store");
  if (path === "session" && method === "POST") return openSession(context, request, reply);
  const visitor = await visitorOf(context, request);
  if (path === "session" && method === "DELETE") {
    const token = tokenIn(request) as string;
    await new Sessions(context).end(token);
    reply.header("set-cookie", expiredCookie(cookieName(context, token)));
    return {};
  }
  if (path === "api/session") return sessionResponse(context, visitor);
  requireScope(visitor, statusScope);
  if (path === "api/live") return streamLive(context, request, reply);
  const [scope, view] = views[`${method} ${path.replace(/^api\//, "")}`] ?? [];
  if (!scope || !view) throw new ServiceError("NOT_FOUND", "The console has no such path.");
  requireScope(visitor, scope);
  const body = (request.body as { json?: unknown } | undefined)?.json;
  const disconnected = disconnectSignal(reply.raw);
  return untilAborted(disconnected, () => view(context, queryTexts(request.query), disconnected, body));
}

/** Creates a one-time code that opens a session. The caller must have been authenticated. */
export function newCode(context: Context, clientId: string | undefined, access: Access) {
  return new Sessions(context).newCode(clientId, access);
}

/**
 * Authorizes an API call from the page. Throws if the session or scope is missing, or if another website sent the call.
 */
export async function authorize(context: Context, request: FastifyRequest, scope: string): Promise<Visitor> {
  const own = originsOf(context);
  checkHost(request.headers, own);
  checkOrigin(request.method, request.headers, own);
  const visitor = await visitorOf(context, request);
  requireScope(visitor, scope);
  return visitor;
}

function originsOf({ addresses }: Context): ReadonlySet<string> {
  return ownOrigins([addresses.url, addresses.localUrl]);
}

function tokenIn({ headers }: FastifyRequest): string | undefined {
  const token = headers[tokenHeader];
  return typeof token === "string" ? token : undefined;
}

/**
 * Finds the session of a request. Tries all cookies with the expected name, because a server at another port may have
 * set one with the same name.
 */
async function visitorOf(context: Context, request: FastifyRequest): Promise<Visitor> {
  const token = tokenIn(request);
  const name = token === undefined ? "" : cookieName(context, token);
  const cookies = cookiesIn(request).filter((pair) => pair[0] === name);
  return new Sessions(context).visitorOf(
    cookies.map(([, value]) => value),
    token,
  );
}

/**
 * Returns the name of a session's cookie. It is unique, because the cookies of all ports and tabs are sent together.
 */
function cookieName({ addresses }: Context, token = ""): string {
  const { port, protocol } = new URL(addresses.url);
  const session = token && createHash("sha256").update(token).digest("hex").slice(0, 8);
  return `recommender_console_${port || (protocol === "https:" ? 443 : 80)}_${session}`;
}

function cookiesIn({ headers }: FastifyRequest): [name: string, value: string][] {
  return (headers.cookie ?? "").split(/; */).map((pair) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
}

const expiredCookie = (name: string) => `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`;

/** Maximum number of session cookies per browser. Without a limit, the cookie header would become too long. */
const maxSessions = 20;

async function openSession(context: Context, request: FastifyRequest, reply: FastifyReply) {
  const body = (request.body as { json?: { code?: unknown } } | undefined)?.json;
  const code = typeof body?.code === "string" ? body.code : "";
  const { cookie, token, maxAgeSec } = await new Sessions(context).open(code);
  // Some browsers, such as Safari, reject Secure cookies over http, even on localhost.
  const secure = context.addresses.url.startsWith("https:") ? "; Secure" : "";
  // Deletes the oldest session cookies above the maximum. Browsers send the oldest cookies first.
  const names = cookiesIn(request).map(([name]) => name);
  const own = names.filter((name) => name.startsWith(cookieName(context)) && /^\w+$/.test(name));
  reply.header("set-cookie", [
    `${cookieName(context, token)}=${cookie}; Path=/; Max-Age=${maxAgeSec}; HttpOnly; SameSite=Strict${secure}`,
    ...own.slice(0, 1 - maxSessions).map(expiredCookie),
  ]);
  return { token };
}

/** Returns the current session, the address and location of the service, and its newest projects. */
export async function sessionResponse(context: Context, visitor: Visitor) {
  const { store, addresses, dataDirectory } = context;
  return {
    ...visitor,
    service: {
      url: addresses.url,
      place: store.isShared ? withoutPassword(store.location) : dataDirectory.path,
    },
    projects: await projectChoices(store.db, { limit: 200 }),
  };
}

function streamLive(context: Context, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isSignedIn = () =>
    authorize(context, request, "/status").then(
      () => true,
      () => false,
    );
  return reply
    .type("application/x-ndjson")
    .send(Readable.from(liveLines(context, disconnectSignal(reply.raw), isSignedIn)));
}
