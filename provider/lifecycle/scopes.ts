import { TokenError } from "../../client/errors";
import { embeddedDirectory, type Settings } from "../../client/settings";
import { isUnreachable } from "../../client/unreachable";
import type { Route } from "../../contract";
import type { Urn } from "../run/engine";
import { openSession, type Session } from "../run/session";
import { type ReportedResource, reportOnce } from "./titled";

const list = new Intl.ListFormat("en");

/** The resource that a step works for. */
interface Declared extends ReportedResource {
  readonly urn: Urn;
}

/**
 * Why the calls of a step would be refused: the credentials lack a scope. Each scope is asked for once in a run, and
 * reported in full by the first resource that needs it. Only a source of tokens that refuses single scopes is asked.
 */
export async function scopeFault(
  calls: readonly Route[] = [],
  declared: Declared,
  settings: Settings,
): Promise<string | undefined> {
  // The key of an embedded service has every scope, and a preview does not start a service.
  if (calls.length === 0 || embeddedDirectory(settings.baseUrl) !== undefined) return undefined;
  const { title } = declared;
  const session = await openSession(settings, declared.urn);
  if (!session.client.refusesScopes) return undefined;
  const has = await reportOnce(declared, () => Promise.all(calls.map((route) => hasScope(route, session))));
  const missing = calls.map(({ path }) => path).filter((_, at) => !has[at]);
  if (missing.length === 0) return undefined;
  const { firstLackingScope } = session.run;
  const others = missing.map((path) => firstLackingScope.get(path) ?? title);
  for (const path of missing) if (!firstLackingScope.has(path)) firstLackingScope.set(path, title);
  const [first = title] = others;
  if (first !== title && others.every((other) => other === first))
    return `it lacks a scope as well; see the error of ${first}`;
  const scopes = `the scope${missing.length === 1 ? "" : "s"} ${list.format(missing)}`;
  return `this step needs ${scopes}, which the credentials lack. See the scopes they have with \`${session.client.whoami}\`.`;
}

function hasScope(route: Route, { client, run }: Session): Promise<boolean> {
  const known =
    run.scopes.get(route.path) ??
    client.getToken(route).then(
      () => true,
      (error) => {
        if (error instanceof TokenError && error.refusal === "scope") return false;
        // Rejected credentials fail every call; a source that is only overloaded proves nothing.
        if (isUnreachable(error) || (error instanceof TokenError && error.refusal)) throw error;
        return true;
      },
    );
  run.scopes.set(route.path, known);
  return known;
}
