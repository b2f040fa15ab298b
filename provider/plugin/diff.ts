import { isDeepStrictEqual } from "node:util";
import { DiffResponse, PropertyDiff } from "@pulumi/pulumi/proto/provider_pb";
import type { Difference } from "../lifecycle/protocol";
import { isSecret } from "../run/secrecy";
import type { Properties } from "../run/state-entry";
import { hasMembers } from "./values";

type Kind = "ADD" | "DELETE" | "UPDATE";

/** Converts a difference to the engine's format, with the path of each changed value. */
export function diffResponse(difference: Difference, olds: Properties, news: Properties): DiffResponse {
  const { changes, changed, replaces } = difference;
  const { DIFF_SOME, DIFF_NONE } = DiffResponse.DiffChanges;
  const reply = new DiffResponse();
  reply.setChanges(changes ? DIFF_SOME : DIFF_NONE);
  reply.setDiffsList(changed);
  reply.setReplacesList(replaces);
  reply.setHasdetaileddiff(true);
  for (const key of changed) {
    // The keys inside a secret are secret too.
    const found = isSecret(key) ? [] : [...differences(key, olds[key], news[key])];
    // If no changed value is found or may be shown, the whole argument is reported as changed.
    for (const [path, kind] of found.length > 0 ? found : [[key, "UPDATE"] as const]) {
      const diff = new PropertyDiff();
      diff.setKind(PropertyDiff.Kind[replaces.includes(key) ? (`${kind}_REPLACE` as const) : kind]);
      reply.getDetaileddiffMap().set(path, diff);
    }
  }
  return reply;
}

/** Finds the paths where two values differ, in the engine's notation: `queries[0].value`, `schema["a b"]`. */
function* differences(path: string, before: unknown, after: unknown): Generator<readonly [string, Kind]> {
  // The engine does not store null, so null and absent are equal.
  if (isDeepStrictEqual(before ?? null, after ?? null)) return;
  if (before == null) yield [path, "ADD"];
  else if (after == null) yield [path, "DELETE"];
  else if (hasMembers(before) && hasMembers(after) && Array.isArray(before) === Array.isArray(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      yield* differences(path + pathStep(key, Array.isArray(before)), before[key], after[key]);
  } else yield [path, "UPDATE"];
}

function pathStep(key: string, isIndex: boolean): string {
  if (isIndex) return `[${key}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
