import { z } from "zod";
import { parseDuration } from "../../client/parse";
import { parsePercentage } from "../terminal/option-values";
import { isTimeZone, weekdays } from "./time-zone";

const text = z.string().trim().min(1);

/** An entry of `drift.accept`: a finding that the check tolerates for a while. */
const acceptance = z.strictObject({
  stack: text,
  resource: text,
  property: text.optional(),
  reason: text,
  until: z.iso.date("expected a date such as 2027-01-31, in quotes or without"),
});

const timeZone = text.refine(isTimeZone, "expected an IANA time zone such as Europe/Berlin");
const timeOfDay = z
  .string()
  .regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, "expected a time of day in quotes, such as '09:00'");

/** A weekly time in which promotions may start. If `to` is before `from`, the window ends on the next day. */
const window = z
  .strictObject({
    days: z
      .array(z.enum(weekdays))
      .min(1)
      .default([...weekdays]),
    from: timeOfDay,
    to: timeOfDay,
    timeZone,
  })
  .refine(({ from, to }) => from !== to, { path: ["to"], message: "expected another time than from" });

const localTime = z
  .string()
  .refine(isLocalTime, "expected a date or a local time such as 2026-12-18 or 2026-12-18T17:00");

/** A period in which no promotion may start. If `to` has no time of day, the period includes that day. */
const freeze = z
  .strictObject({ from: localTime, to: localTime, timeZone, reason: text })
  .refine(({ from, to }) => from <= to, { path: ["to"], message: "expected a time after from" });

const duration = z
  .string()
  .refine((given) => parseDuration(given) !== undefined, "expected a duration with a unit, such as 24h or 3d")
  .transform((given) => ({ text: given, ms: parseDuration(given) as number }));

const percentage = z
  .string("expected a percentage such as 5%")
  .refine((given) => parsePercentage(given) !== undefined, "expected a percentage such as 5%")
  .transform((given) => parsePercentage(given) as number);

const ndcg = z.number().min(0).max(1);

const approvals = z.strictObject({
  required: z.int().min(1),
  /** People who may approve. Without this list, any name counts, so the source must be trusted. */
  by: z.array(text).min(1).optional(),
  source: z.enum(["environment", "signatures"]),
  variable: z
    .string()
    .regex(/^[A-Za-z_]\w*$/, "expected the name of an environment variable")
    .default("RECOMMENDER_APPROVED_BY"),
});

/** Settings of the watch after the switch, with the limits that cause a rollback. */
const watch = z.strictObject({
  for: duration.default({ text: "30m", ms: 30 * 60_000 }),
  /** Time between two calls to a deployment. */
  every: duration.default({ text: "5s", ms: 5000 }),
  maxErrors: percentage.default(0.05),
  maxEmpty: percentage.default(0.1),
  /** Limit of the 95th percentile. */
  maxLatencyMs: z.number().positive().optional(),
  /** Limit of the increase of the share that the ten most shown items have, in percentage points. */
  maxPopularityIncrease: percentage.default(0.2),
  /** Users to request recommendations for. Without it, users with recent events, or those of the checks. */
  users: z.array(text).min(1).optional(),
});

/** Requirements of a promotion to a stage, and settings of its watch. */
const stage = z.strictObject({
  soak: duration.optional(),
  windows: z.array(window).min(1).optional(),
  freezes: z.array(freeze).default([]),
  minQuality: z.union([ndcg, z.record(z.string(), ndcg)]).optional(),
  approvals: approvals.optional(),
  watch: watch.optional(),
});

const promotion = z
  .strictObject({
    order: z.array(text).min(2).optional(),
    stages: z.record(z.string(), stage).default({}),
  })
  .superRefine(({ order, stages }, context) => {
    for (const name of Object.keys(stages)) {
      if (order && !order.includes(name))
        context.addIssue({ code: "custom", path: ["stages", name], message: "is not in promotion.order" });
    }
    if (order && new Set(order).size < order.length)
      context.addIssue({ code: "custom", path: ["order"], message: "expected each stage once" });
  });

/** When `recommender retrain` trains models again, and when drift reports that they are stale. */
const retrain = z.strictObject({
  ifOlder: duration.optional(),
  ifNewEvents: percentage.optional(),
  /** Configuration key that the program uses as a trigger of its models. */
  trigger: z
    .string()
    .regex(/^[^:\s]+(:[^:\s]+)?$/, "expected a configuration key such as retrainedAt or shop:retrainedAt")
    .default("retrainedAt"),
});

/** Default settings of a watch. */
export const defaultWatch: z.output<typeof watch> = watch.parse({});

/** Schema of `recommender.yaml`. Unknown keys are errors, because a mistyped key would silently have no effect. */
export const policySchema = z.strictObject({
  drift: z.strictObject({ accept: z.array(acceptance).default([]) }).default({ accept: [] }),
  promotion: promotion.default({ stages: {} }),
  retrain: retrain.default({ trigger: "retrainedAt" }),
});

function isLocalTime(given: string): boolean {
  const [, day, time = "00:00"] = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d))?$/.exec(given) ?? [];
  const at = new Date(`${day}T${time}:00Z`);
  // Rejects dates such as 2026-02-30, which Date would move to March.
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(`${day}T${time}`);
}
