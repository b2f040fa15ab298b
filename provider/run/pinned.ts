import { z } from "zod";
import { parseJson } from "../../client/parse";
import { id } from "../../contract/field";
import { issuesText } from "../../contract/messages";

/** Configuration key with the models that stay deployed even if the program declares different ones. */
export const pinnedModelsKey = "pinnedModels";

/** Environment variable with the same content as the configuration key. */
export const pinnedModelsVariable = "RECOMMENDER_PINNED_MODELS";

const pinnedModels = z.record(
  z.string(),
  z.strictObject({ generatorModelId: id, rankerModelId: id.optional() }),
);

/** Models that a deployment is pinned to. */
export interface Pinned {
  readonly generatorModelId: string;
  readonly rankerModelId?: string;
}

/** Parses the pinned models. The keys are the logical names of deployments. */
export function readPinned(text: string | undefined): Readonly<Record<string, Pinned>> {
  if (!text) return {};
  const read = pinnedModels.safeParse(parseJson(text) ?? text);
  if (read.success) return read.data as Record<string, Pinned>;
  throw new Error(
    `recommender:${pinnedModelsKey}: expected models by the names of deployments, as \`recommender rollback\` ` +
      `writes them: ${issuesText(read.error.issues)}. To deploy the program's models instead, run ` +
      `\`pulumi config rm recommender:${pinnedModelsKey}\`.`,
  );
}

/** Returns the models that a rollback has pinned a deployment or its job to. The environment takes precedence. */
export function pinnedIn(config: (key: string) => string | undefined, name: string): Pinned | undefined {
  return readPinned(process.env[pinnedModelsVariable] || config(pinnedModelsKey))[name];
}
