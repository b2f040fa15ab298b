import { isUnreachable, TokenError } from "../../client/errors";
import { UnsupportedError } from "../../client/extensions";
import { embeddedDirectory, type Settings } from "../../client/settings";
import type { Route } from "../../contract";
import type { Urn } from "../run/engine";
import { openSession, type Session } from "../run/session";
import { type ReportedResource, reportOnce } from "./titled";

/**
 * Environment variable of comparisons such as `recommender review`. Their credentials may be limited to reading, because no
 * update follows.
 */
export const comparesOnlyVariable = "RECOMMENDER_COMPARES_ONLY";

const list = new Intl.ListFormat("en");

/** A call that a step sends. */
export interface PlannedCall extends Route {
  /** Fields of the request that extend the specification and have a value. */
  readonly uses?: readonly string[];
}

/**
 * Returns an error if the service lacks an extension that a step uses, or if the credentials lack a scope for its calls.
 * Each scope is requested once per run and reported in full by the first resource that needs it. Works only with token
 * sources that reject individual scopes.
 */
export async function scopeFault(
  calls: readonly PlannedCall[] = [],
  declared: ReportedResource & { readonly urn: Urn },
  settings: Settings,
): Promise<string | undefined> {
  // The key of an embedded service has all scopes, and a preview must not start the service.
  if (calls.length === 0 || embeddedDirectory(settings.baseUrl) !== undefined) return undefined;
  const { title } = declared;
  const session = await openSession(settings, declared.urn);
  const unsupported = await reportOnce(declared, () => supportFault(calls, session));
  if (unsupported || !session.client.refusesScopes || process.env[comparesOnlyVariable]) return unsupported;
  const has = await reportOnce(declared, () => Promise.all(calls.map((route) => hasScope(route, session))));
  const missing = calls.map(({ path }) => path).filter((_, at) => !has[at]);
  if (missing.length === 0) return undefined;
  const { firstLackingScope } = session.run;
  const others = missing.map((path) => firstLackingScope.get(path) ?? title);
  for (const path of missing) if (!firstLackingScope.has(path)) firstLackingScope.set(path, title);
  const [first = title] = others;
  if (first !== title && others.every((other) => other === first))
    return `the credentials lack a scope for this step too; see the error of ${first}`;
  const scopes = `the scope${missing.length === 1 ? "" : "s"} ${list.format(missing)}`;
  return `this step needs ${scopes}, which the credentials lack. Run \`${session.client.whoami}\` to see the granted scopes.`;
}

async function supportFault(calls: readonly PlannedCall[], { client }: Session): Promise<string | undefined> {
  const fixWithout = (what: string) => `remove ${what}, or use a service that supports it`;
  for (const call of calls) {
    if (!(await client.supports(call)))
      return new UnsupportedError(call, client.baseUrl, [], fixWithout("this resource")).message;
    const supported = await Promise.all((call.uses ?? []).map((field) => client.supports(call, field)));
    const missing = call.uses?.filter((_, at) => !supported[at]) ?? [];
    if (missing.length > 0)
      return new UnsupportedError(call, client.baseUrl, missing, fixWithout(missing.join(" and "))).message;
  }
  return undefined;
}

function hasScope(route: Route, { client, run }: Session): Promise<boolean> {
  const known =
    run.scopes.get(route.path) ??
    client.getToken(route).then(
      () => true,
      (error) => {
        if (error instanceof TokenError && error.refusal === "scope") return false;
        // If the credentials are rejected or the service is unreachable, every call would fail. Other errors, such as
        // an overloaded token source, say nothing about the scope.
        if (isUnreachable(error) || (error instanceof TokenError && error.refusal)) throw error;
        return true;
      },
    );
  run.scopes.set(route.path, known);
  return known;
}
