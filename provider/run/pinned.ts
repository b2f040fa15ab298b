import { z } from "zod";
import { parseJson } from "../../client/parse";
import { type Rules, tolerant } from "../../contract";
import { id } from "../../contract/field";
import { issuesText } from "../../contract/messages";
import { rules } from "../../contract/rules";

/** Configuration key with the models that stay deployed even if the program declares different ones. */
export const pinnedModelsKey = "pinnedModels";

/** Environment variable with the same content as the configuration key. */
export const pinnedModelsVariable = "RECOMMENDER_PINNED_MODELS";

const pinnedModels = z.record(
  z.string(),
  z.strictObject({
    generatorModelId: id,
    rankerModelId: id.optional(),
    // The configuration of a stack contains rules as JSON.
    rules: z
      .preprocess(
        (given) => (typeof given === "string" ? parseJson(given) : given),
        tolerant(rules).nullable(),
      )
      .optional(),
  }),
);

/** Models and rules that a deployment is pinned to. */
export interface Pinned {
  readonly generatorModelId: string;
  readonly rankerModelId?: string;
  /** Rules to use: null for none, undefined for those of the program. */
  readonly rules?: Rules | null;
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

/** Describes which models a pin keeps live, whether it replaces the rules too, and how to remove the pin. */
export function pinWarning(pinned: Pinned, stack: string): string {
  const [source, fix] = process.env[pinnedModelsVariable]
    ? [pinnedModelsVariable, `Unset ${pinnedModelsVariable} to remove the pin.`]
    : [
        `recommender:${pinnedModelsKey}`,
        `Remove the pin with \`recommender rollback ${stack} --undo --yes\`.`,
      ];
  const { generatorModelId, rankerModelId, rules } = pinned;
  const models = [generatorModelId, ...(rankerModelId ? [rankerModelId] : [])].join(" and ");
  const replaced = rules === undefined ? "models" : "models and rules";
  return `${source} keeps ${models} live instead of the program's ${replaced}. ${fix}`;
}
