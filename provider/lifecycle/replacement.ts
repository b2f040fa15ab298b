import type { Settings } from "../../client/settings";
import { truncate } from "../../contract/messages";
import { log } from "../run/engine";
import { isReplacedByCommand } from "../run/engine-command";
import type { Properties } from "../run/state-entry";
import { logicalName } from "../run/urn";
import { containsUnknown } from "./arguments";
import type { Declaration, Definition } from "./definition";
import { scopeFault } from "./scopes";
import { changeTexts } from "./wording";

/** Change of a resource, and the arguments that require its replacement. */
interface Change {
  readonly id: string;
  readonly olds: Properties;
  readonly news: Properties;
  readonly replaces: readonly string[];
}

/**
 * Warns about a replacement that the engine forces, for example with `--replace`. The engine then calls `check` as if
 * the resource were new.
 */
export async function warnOfForcedReplacement(
  definition: Definition,
  declaration: Declaration,
  inputs: Properties,
): Promise<void> {
  const { urn, run } = declaration;
  const isInState = run.inState.has(urn) || isReplacedByCommand(urn);
  if (!isInState || run.replacedByDiff.has(urn)) return;
  const warning = warningOf(definition, declaration, { id: "", olds: {}, news: inputs, replaces: [] });
  if (warning) await run.warnOnce(urn, warning);
}

/**
 * Warns about the consequences if a change replaces the resource, or may replace it because `existingId` is not known
 * yet.
 */
export async function warnOfReplacement(
  definition: Definition,
  declaration: Declaration & { readonly settings: Settings },
  change: Change,
): Promise<void> {
  const { run, urn, settings } = declaration;
  const { id, olds, news, replaces } = change;
  const shown = truncate(id);
  if (containsUnknown(news.existingId))
    await log.warn(
      urn,
      `existingId is not known yet. If it is not ${shown}, ${shown} is replaced and then deleted or orphaned.`,
    );
  if (replaces.length === 0) return;
  const warning = replaces.includes("existingId")
    ? `${shown} is replaced by the existing ${truncate(String(news.existingId))}, and is then deleted or orphaned.`
    : warningOf(definition, declaration, change);
  if (warning) await log.warn(urn, warning);
  run.replacing.add(urn);
  run.replacedByDiff.add(urn);
  const { delete: calls } = definition.calls(olds);
  const fault = await scopeFault(calls, declaration, settings);
  if (fault)
    await log.warn(
      urn,
      `${shown} cannot be deleted after its replacement. Unless retainOnDelete is set, the run will fail: ${fault}`,
    );
}

/** Returns the warning about a replacement. `prevention` explains how to keep the object. */
export function warningOf(
  definition: Definition,
  { urn, title, run }: Declaration,
  { id, olds, news, replaces }: Change,
  prevention = "To prevent the replacement, set protect.",
): string | undefined {
  const name = logicalName(urn);
  const changes = replaces.flatMap((key) => changeTexts(key, olds[key], news[key], run.sourceNames));
  const forced = "requested by --replace, replaceOnChanges, replacementTrigger or replaceWith";
  const reason = changes.join(", ") || forced;
  return definition.replacementWarning?.({ id, title, name, state: olds, changes, reason, prevention });
}
