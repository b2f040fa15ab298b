import { routes } from "../../contract";
import { closestMatch } from "../../contract/messages";

const operations = Object.values(routes).map(({ method, path }) => ({ method, path: path as string }));
const recommend: readonly string[] = [routes.recommendItemsToUser.path, routes.recommendItemsToItem.path];
const metrics = ["/metrics", "/status"];

/** Scopes of tokens. Each is the path of an operation. */
export const operationScopes: ReadonlySet<string> = new Set(operations.map(({ path }) => path));

/** Scopes that a client can have: those of operations, and the paths for monitoring. */
export const everyScope: ReadonlySet<string> = new Set([...operationScopes, ...metrics]);

const reads = operations.filter(({ method }) => method === "GET").map(({ path }) => path);

/** Names for groups of scopes. */
export const scopeGroups: Readonly<Record<string, readonly string[]>> = {
  all: [...everyScope],
  read: reads,
  write: [...operationScopes].filter((path) => !recommend.includes(path) && !reads.includes(path)),
  recommend,
  metrics,
};

/** Replaces group names with the scopes of the groups. Returns all scopes in the order of the contract. */
export function expandScopes(words: readonly string[]): string[] {
  const given = words.map((word) => word.trim()).filter(Boolean);
  const known = [...Object.keys(scopeGroups), ...everyScope];
  if (given.length === 0)
    throw new Error(`A client needs at least one scope: the path of an operation, or ${groupNames}.`);
  const unknown = given.filter((word) => !known.includes(word));
  if (unknown.length > 0) {
    const each = unknown.map((word) => {
      const meant =
        closestMatch(word.startsWith("/") ? word : `/${word}`, known) ?? closestMatch(word, known);
      return `${JSON.stringify(word)} is not a scope${meant === undefined ? "" : `; did you mean ${meant}?`}`;
    });
    throw new Error(
      `${each.join("\n")}\nA scope is the path of an operation, as in /create-project, or ${groupNames}.`,
    );
  }
  const wanted = new Set(given.flatMap((word) => scopeGroups[word] ?? [word]));
  return [...everyScope].filter((path) => wanted.has(path));
}

/** Replaces scopes with the name of a group if all scopes of the group are present. */
export function foldScopes(paths: readonly string[]): string[] {
  const left = new Set(paths);
  const words: string[] = [];
  for (const [group, members] of Object.entries(scopeGroups)) {
    if (!members.every((path) => left.has(path))) continue;
    words.push(group);
    for (const path of members) left.delete(path);
  }
  return [...words, ...left];
}

const groupNames = `one of the groups ${Object.keys(scopeGroups).join(", ")}`;
