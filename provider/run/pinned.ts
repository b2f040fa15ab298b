import { z } from "zod";
import { parseJson } from "../../client/parse";
import { id } from "../../contract/field";
import { issuesText } from "../../contract/messages";
import type { Urn } from "./engine";
import { logicalName } from "./urn";

/** The key, under `recommender:`, of the models that serve whatever the program declares. */
export const pinnedModelsKey = "pinnedModels";

/** The same in the environment. */
export const pinnedModelsVariable = "RECOMMENDER_PINNED_MODELS";

const pinnedModels = z.record(
  z.string(),
  z.strictObject({ generatorModelId: id, rankerModelId: id.optional() }),
);

/** The models that a deployment is pinned to. */
export interface Pinned {
  readonly generatorModelId: string;
  readonly rankerModelId?: string;
}

/** What the configuration of a stack pins, by the logical names of deployments. */
export function readPinned(text: string | undefined): Readonly<Record<string, Pinned>> {
  if (!text) return {};
  const read = pinnedModels.safeParse(parseJson(text) ?? text);
  if (read.success) return read.data as Record<string, Pinned>;
  throw new Error(
    `recommender:${pinnedModelsKey}: expected models by the names of deployments, as \`recommender rollback\` ` +
      `writes them: ${issuesText(read.error.issues)}. Without it the program decides: ` +
      `\`pulumi config rm recommender:${pinnedModelsKey}\`.`,
  );
}

/** The models that a stack pins a deployment or its job to, after a rollback; the environment wins, as always. */
export function pinnedIn(config: (key: string) => string | undefined, name: string): Pinned | undefined {
  return readPinned(process.env[pinnedModelsVariable] || config(pinnedModelsKey))[name];
}

/** The same by the URN of either. */
export function pinnedAt(urn: Urn, config: (key: string) => string | undefined): Pinned | undefined {
  return pinnedIn(config, logicalName(urn));
}
