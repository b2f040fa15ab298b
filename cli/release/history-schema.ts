import { z } from "zod";
import { quality as contractQuality } from "../../contract";

// The schema of a release history, releases/STACK.json.

/**
 * Object schema that keeps unknown fields. A newer version may have added them, and an older version must not lose them
 * when it adds entries.
 */
const extensible = <T extends z.ZodRawShape>(shape: T) => z.looseObject(shape) as unknown as z.ZodObject<T>;

const { ndcgAt20, ...otherMetrics } = contractQuality.shape;
/** Quality of a model. NDCG comes first, as in files of earlier versions, to keep diffs small. */
export const quality = extensible({ ndcgAt20, ...otherMetrics });

const servedModel = extensible({
  modelId: z.string(),
  /** Logical name of the `Model` in the program. Absent for a pinned model. */
  model: z.string().optional(),
  quality: quality.optional(),
});

/** Models and rules of one deployment. */
export const served = extensible({
  name: z.string(),
  generator: servedModel,
  ranker: servedModel.optional(),
  /** Rules of the deployment. Absent if it has none. */
  rules: z.json().optional(),
});

/** Records, algorithms, models and deployments of a stack. */
export const contents = extensible({
  records: z.array(
    extensible({
      name: z.string(),
      type: z.string(),
      contentHash: z.string(),
      recordCount: z.number().optional(),
    }),
  ),
  algorithms: z.array(
    extensible({ name: z.string(), type: z.string(), declaredParameters: z.record(z.string(), z.json()) }),
  ),
  models: z.array(
    extensible({
      name: z.string(),
      modelId: z.string(),
      projectId: z.string(),
      trainedParameters: z.record(z.string(), z.json()).optional(),
      quality: quality.optional(),
    }),
  ),
  deployments: z.array(
    served.extend({
      projectId: z.string(),
      qps: z.number(),
      check: extensible({
        users: z.int(),
        minResults: z.int(),
        maxLatencyMs: z.number().optional(),
        filterQuery: z.string().optional(),
        result: z.string(),
      }).optional(),
    }),
  ),
});

/** Measurements of a watch for one deployment. */
export const figures = extensible({
  /** Number of the newest answers that were measured. */
  answers: z.int(),
  /** Share of these answers that were errors. */
  errors: z.number(),
  /** Share of these answers without any item. */
  empty: z.number(),
  /** 95th percentile. */
  latencyMs: z.number().optional(),
  /** Share of all recommended places that the ten most shown items have, once every user has an answer. */
  popularity: z.number().optional(),
});

/** The watch of a release after its models went live. */
export const watch = extensible({
  /** `ended` if another change of the stack ended it. */
  state: z.enum(["watching", "passed", "failed", "ended"]),
  forMs: z.number(),
  limits: extensible({
    maxErrors: z.number(),
    maxEmpty: z.number(),
    maxLatencyMs: z.number().optional(),
    maxPopularityIncrease: z.number(),
  }),
  /** Time watched so far. */
  observedMs: z.number(),
  /** Measurements by deployment, before the switch. */
  before: z.record(z.string(), figures).optional(),
  /** The newest measurements by deployment. */
  now: z.record(z.string(), figures).optional(),
  /** The violated limit. Set before the rollback begins, so an interrupted rollback is resumed. */
  violation: z.string().optional(),
});

/** One change of a stack. */
export const entry = extensible({
  id: z.string(),
  action: z.enum(["release", "promote", "rollback", "retrain"]),
  status: z.enum(["running", "done", "failed"]),
  beganAt: z.iso.datetime(),
  endedAt: z.iso.datetime().optional(),
  /** The release that was promoted, or the target of a rollback. */
  from: extensible({ stack: z.string(), release: z.string() }).optional(),
  /** Who ran the command. */
  author: z.string().optional(),
  program: extensible({ commit: z.string().nullable(), dirty: z.boolean() }),
  versions: extensible({ package: z.string(), sdk: z.string(), engine: z.string() }),
  /** Blocking issues that the user allowed with `--allow`. */
  allowed: z.array(z.string()).optional(),
  /** Gates of the policy when it began. */
  gates: z
    .array(
      extensible({
        gate: z.string(),
        state: z.enum(["open", "closed", "overridden"]),
        words: z.string(),
        /** Why the gate was overridden. */
        reason: z.string().optional(),
      }),
    )
    .optional(),
  /** Live models when it began. */
  before: z.array(served).optional(),
  /** Required NDCG@20 of each model. */
  minQuality: z.record(z.string(), z.number()).optional(),
  /** The configuration that made the models train again, and why they did. Only in a retraining. */
  retraining: extensible({ key: z.string(), value: z.string(), because: z.array(z.string()) }).optional(),
  /** The watch after the switch. */
  watch: watch.optional(),
  /** Id of the entry whose watch caused this rollback. */
  watched: z.string().optional(),
  reason: z.string().optional(),
  contents: contents.optional(),
});

/** The history of a stack. */
export const releaseFile = extensible({
  version: z.literal(1),
  project: z.string(),
  stack: z.string(),
  releases: z.array(entry),
});
