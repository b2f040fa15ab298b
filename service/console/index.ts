// console/ answers the web page that looks at a service: signing in, and what its screens show. It is loaded when a
// page is first asked for.

import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { routes } from "../../contract";
import { version } from "../../package.json";
import { notFound, ServiceError, shortened } from "../base/error";
import { leavingOf } from "../base/leaving";
import type { Context } from "../handlers/handler";
import { withoutPassword } from "../store/address";
import type { Db } from "../store/database";
import { untilAborted } from "../store/postgres-pool";
import type { ModelRow, SessionAnswer } from "./answers";
import { besideAnswer } from "./beside";
import { datasetAnswer } from "./datasets/dataset";
import { recordAnswer, recordsPage } from "./datasets/records";
import { checkHost, checkOrigin, ownOrigins } from "./guard";
import { jobAnswer, live } from "./jobs";
import { overview } from "./overview/overview";
import { sendPage } from "./pages";
import { askingAnswer, resultAnswer } from "./questions";
import { jobsOf, modelsById, modelsOf, projectChoices } from "./rows";
import { servingAnswer } from "./serving";
import { type Access, refuseBeyond, Sessions, type Visitor } from "./sessions";
import { suggest, tryOut } from "./try";

/** What the console answers with. */
export interface ConsoleContext extends Context {
  readonly startedTs: number;
}

/** The header of a session's second half. */
const tokenHeader = "x-console-token";

type Query = Readonly<Record<string, string | undefined>>;
/** The signal says that nobody waits for the answer any more. */
type View = (context: ConsoleContext, query: Query, signal: AbortSignal, body: unknown) => Promise<unknown>;

/** A whole number from one up that every database takes. */
function number(text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d{0,8}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new ServiceError("BAD_REQUEST", `${shortened(text)} must be a whole number from 1 to 999999999.`);
}
/** A list of texts as JSON; ids may have commas in them. */
function textsIn(json: string): string[] {
  try {
    return (JSON.parse(json) as unknown[]).map(String);
  } catch {
    throw new ServiceError("BAD_REQUEST", "users must be a list as JSON.");
  }
}

/** What an address asks for: a name that is given twice is a list, and no database takes a NUL character. */
function textsOf(query: unknown): Query {
  const given = Object.entries(query as object);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value).replaceAll("\0", "")]));
}

const kindOf = (text: string | undefined) => (text === "item" ? "item" : "user");

/** What tells the same in the API, or what is nearest to it: no operation reads records. */
const [health, records, result, recommend] = [
  "/status",
  routes.getEventDataset.path,
  routes.getJob.path,
  routes.recommendItemsToUser.path,
];

/** What the screens read, each with the scope that it takes. Counts and health take no more than that of the status. */
const views: Readonly<Record<string, readonly [scope: string, view: View]>> = {
  "GET overview": [health, (context, { orphans }) => overview(context, { withOrphans: orphans === "shown" })],
  "GET jobs": [
    health,
    ({ store }, { project, type, status, search, page }) =>
      jobsOf(store.db, { projectId: project, type, status, search, before: number(page) }),
  ],
  "GET job": [result, (context, { id = "" }) => jobAnswer(context, id)],
  "GET models": [
    health,
    ({ store }, { project = "", search, page, limit }) =>
      modelsOf(store.db, {
        projectId: project,
        search,
        before: number(page),
        limit: Math.min(200, number(limit) ?? 50),
      }),
  ],
  "GET model": [health, ({ store }, { id = "" }) => modelAnswer(store.db, id)],
  "GET beside": [
    recommend,
    (context, { models = "", users = "[]" }, signal) =>
      besideAnswer(context, models.split(","), textsIn(users), signal),
  ],
  "GET asking": [records, (context, { project = "" }) => askingAnswer(context, project)],
  "GET result": [result, (context, { id = "" }) => resultAnswer(context, id)],
  "GET serving": [health, (context, { project = "" }) => servingAnswer(context, project)],
  "GET dataset": [records, (context, { id = "" }) => datasetAnswer(context, id)],
  "GET records": [
    records,
    (context, { id = "", search, page }, signal) => recordsPage(context, { id, search, after: page }, signal),
  ],
  "GET record": [
    records,
    (context, { dataset = "", kind, id = "" }, signal) =>
      recordAnswer(context, dataset, kindOf(kind), id, signal),
  ],
  "GET suggest": [
    records,
    (context, { project = "", kind, text = "" }) => suggest(context, project, kindOf(kind), text),
  ],
  "POST try": [recommend, (context, _query, _signal, body) => tryOut(context, body)],
};

async function modelAnswer(db: Db, id: string): Promise<ModelRow> {
  const model = (await modelsById(db, [id])).get(id);
  if (!model) throw notFound("model", id, "it may have been deleted");
  return model;
}

/** Answers whatever is asked under `/` and `/console/`. */
export async function answer(
  context: ConsoleContext,
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
  if (path === "session" && method === "POST") return open(context, request, reply);
  const visitor = await visitorOf(context, request);
  if (path === "session" && method === "DELETE") {
    const token = tokenIn(request) as string;
    await new Sessions(context).end(token);
    reply.header("set-cookie", expired(cookieName(context, token)));
    return {};
  }
  if (path === "api/session") return sessionAnswer(context, visitor);
  refuseBeyond(visitor, health);
  if (path === "api/live") return stream(context, request, reply);
  const [scope, view] = views[`${method} ${path.replace(/^api\//, "")}`] ?? [];
  if (!scope || !view) throw new ServiceError("NOT_FOUND", "There is no such part of the console.");
  refuseBeyond(visitor, scope);
  const body = (request.body as { json?: unknown } | undefined)?.json;
  const left = leavingOf(reply.raw);
  return untilAborted(left, () => view(context, textsOf(request.query), left, body));
}

/** A one-time code for a session, for a caller who has shown a secret. */
export function newCode(context: ConsoleContext, clientId: string | undefined, access: Access) {
  return new Sessions(context).newCode(clientId, access);
}

/** Who makes a call of the API from the page, and may; the page has no key. */
export async function callerOf(
  context: ConsoleContext,
  request: FastifyRequest,
  scope: string,
): Promise<Visitor> {
  const own = originsOf(context);
  checkHost(request.headers, own);
  checkOrigin(request.method, request.headers, own);
  const visitor = await visitorOf(context, request);
  refuseBeyond(visitor, scope);
  return visitor;
}

function originsOf({ addresses }: ConsoleContext): ReadonlySet<string> {
  return ownOrigins([addresses.url, addresses.localUrl]);
}

function tokenIn({ headers }: FastifyRequest): string | undefined {
  const token = headers[tokenHeader];
  return typeof token === "string" ? token : undefined;
}

/** Cookies are shared by all ports of a host, and anybody there can add one of the same name: all of them are tried. */
async function visitorOf(context: ConsoleContext, request: FastifyRequest): Promise<Visitor> {
  const token = tokenIn(request);
  const name = token === undefined ? "" : cookieName(context, token);
  const cookies = cookiesIn(request).filter((pair) => pair[0] === name);
  return new Sessions(context).visitorOf(
    cookies.map(([, value]) => value),
    token,
  );
}

/** With the port in its name, as other ports have consoles too, and the session, as other tabs have sessions too. */
function cookieName({ addresses }: ConsoleContext, token = ""): string {
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

const expired = (name: string) => `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`;

/** Sessions of a browser that keep their cookies; without an end to them, no header would hold all. */
const mostSessions = 20;

async function open(context: ConsoleContext, request: FastifyRequest, reply: FastifyReply) {
  const body = (request.body as { json?: { code?: unknown } } | undefined)?.json;
  const code = typeof body?.code === "string" ? body.code : "";
  const { cookie, token, maxAgeSec } = await new Sessions(context).open(code);
  // Browsers other than Chromium take no Secure cookie over http, not even on this machine.
  const secure = context.addresses.url.startsWith("https:") ? "; Secure" : "";
  // Browsers send the oldest first.
  const names = cookiesIn(request).map(([name]) => name);
  const own = names.filter((name) => name.startsWith(cookieName(context)) && /^\w+$/.test(name));
  reply.header("set-cookie", [
    `${cookieName(context, token)}=${cookie}; Path=/; Max-Age=${maxAgeSec}; HttpOnly; SameSite=Strict${secure}`,
    ...own.slice(0, 1 - mostSessions).map(expired),
  ]);
  return { token };
}

async function sessionAnswer(context: ConsoleContext, visitor: Visitor): Promise<SessionAnswer> {
  const { store, addresses, clock, startedTs, folder } = context;
  return {
    ...visitor,
    service: {
      version,
      url: addresses.url,
      place: store.shared ? withoutPassword(store.place) : folder.path,
      uptimeSec: (clock.now() - startedTs) / 1000,
    },
    projects: await projectChoices(store.db, { limit: 200 }),
  };
}

function stream(context: ConsoleContext, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isSignedIn = () =>
    callerOf(context, request, "/status").then(
      () => true,
      () => false,
    );
  return reply
    .type("application/x-ndjson")
    .send(Readable.from(live(context, leavingOf(reply.raw), isSignedIn)));
}
