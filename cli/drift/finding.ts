import { z } from "zod";

/** Grows when the shape of the report changes so that a reader of the former would misread it. */
export const reportVersion = 2;

/** How a report names a resource. */
const resource = z
  .object({
    urn: z.string().meta({ description: "Where the resource stands in the stack" }),
    type: z.string().meta({ description: "EventDataset, Model, …; the whole type for other providers" }),
    name: z.string().meta({ description: "Its logical name" }),
    id: z.string().optional().meta({ description: "Its id in the service, once it has one" }),
  })
  .meta({ id: "Resource" });

const location = z
  .object({
    file: z.string().meta({ description: "Relative to the folder of the project, with /" }),
    line: z.int().min(1),
    column: z.int().min(1),
  })
  .meta({ id: "Location", description: "Where the program declares the resource" });

const property = z
  .object({
    path: z.string().meta({ description: "As in attributeSchema.age or triggers[0]" }),
    declared: z.json().optional().meta({ description: "What should be; absent where nothing is declared" }),
    actual: z.json().optional().meta({ description: "What is; absent where there is nothing" }),
    secret: z.literal(true).optional().meta({ description: "Its values are masked" }),
    unknown: z.literal(true).optional().meta({ description: "Its value is known only after other changes" }),
    replaces: z.literal(true).optional().meta({ description: "It cannot be changed in place" }),
  })
  .meta({ id: "Property" });

const fix = z
  .object({
    edit: z.string().optional().meta({ description: "What to change in the program first" }),
    command: z.string().optional().meta({ description: "What to run then" }),
  })
  .meta({ id: "Fix" });

/** What a finding leads to, from the worst to the least; reports are in this order. */
export const effects = [
  "loses data",
  "stops serving",
  "replaces",
  "retrains",
  "deletes",
  "redeploys",
  "uploads",
  "creates",
  "in place",
  "none",
] as const;

/** What a finding is. */
export const kinds = ["created", "changed", "replaced", "deleted", "not serving", "unmanaged"] as const;

const finding = z
  .object({
    kind: z.enum(kinds),
    resource,
    properties: z.array(property),
    effect: z.enum(effects).meta({ description: "The worst that carrying it out or reverting it does" }),
    consequence: z.string().meta({ description: "The same in words" }),
    also: z.array(z.string()).meta({ description: "URNs of jobs beside the resource that this includes" }),
    protected: z.literal(true).optional().meta({ description: "The option protect forbids it" }),
    fixes: z
      .object({
        apply: fix.meta({ description: "Applies the program: what is there becomes as it is declared" }),
        accept: fix.meta({ description: "Accepts what is there: the program declares it" }),
      })
      .meta({ id: "Fixes" }),
    location: location.optional(),
  })
  .meta({ id: "Finding" });

const unmanaged = z
  .object({
    kind: z.literal("unmanaged"),
    type: z.enum(["EventDataset", "Model"]),
    id: z.string(),
    name: z.string(),
    projectId: z.string().optional().meta({ description: "The project of a model" }),
    fixes: z.object({ apply: fix, accept: fix }),
  })
  .meta({ id: "Unmanaged", description: "In the account or a project of the stack, but in no given stack" });

const orphan = z
  .object({
    type: z.enum(["UserDataset", "ItemDataset", "Project", "Algorithm"]),
    id: z.string(),
    name: z.string(),
    leftBy: z
      .string()
      .optional()
      .meta({ description: "The resource that left it, as PROJECT/STACK/RESOURCE" }),
    blockedBy: z.string().optional().meta({ description: "Why it cannot be deleted by itself" }),
    fixes: z.object({ apply: fix.meta({ description: "Deletes it for good" }) }),
  })
  .meta({
    id: "Orphan",
    description: "Left behind by a replacement or a deletion, and held by no given stack",
  });

const unobservable = z
  .object({
    resource,
    part: z.string().meta({ description: "What of it cannot be seen" }),
    whole: z.boolean().meta({ description: "Whether nothing of it can be seen" }),
  })
  .meta({ id: "Unobservable", description: "What the API cannot read back: never known to be in sync" });

const stackReport = z
  .object({
    stack: z.string(),
    project: z.string(),
    folder: z.string().meta({ description: "Folder of the project in its repository; empty for its root" }),
    resources: z.int().meta({ description: "Resources in the state, without providers and components" }),
    observed: z.int().meta({ description: "Those of them of which the service reports at least something" }),
    changes: z.array(finding).meta({ description: "Program and state: what an update would do" }),
    drift: z.array(finding).meta({ description: "State and service: what was changed outside the program" }),
    unmanaged: z.array(unmanaged),
    orphans: z
      .array(orphan)
      .meta({ description: "Only a service that keeps a list of orphans reports them" }),
    unobservable: z.array(unobservable),
    warnings: z.array(z.string()).meta({ description: "What the engine and the provider warned of" }),
    fixes: z
      .object({ apply: z.string(), accept: z.string() })
      .meta({ description: "Commands for all drift of the stack at once" }),
  })
  .meta({ id: "StackReport" });

/** The report as `--format json` prints it. */
export const reportSchema = z
  .object({
    version: z.literal(reportVersion),
    verdict: z.enum(["clean", "found"]),
    comparedAt: z.string().meta({ description: "When the comparison began, as ISO 8601 in UTC" }),
    commit: z.string().optional().meta({ description: "Commit of the program, where Git knows it" }),
    dirty: z.literal(true).optional().meta({ description: "The program differs from that commit" }),
    stacks: z.array(stackReport),
  })
  .meta({ title: "Report of recommender drift" });

/** The schema of the JSON report, as JSON Schema of 2020-12. */
export function jsonSchema(): object {
  return z.toJSONSchema(reportSchema);
}

/** A difference between the program and the state, or between the state and the service. */
export type Finding = z.output<typeof finding>;
/** One property of a finding. */
export type PropertyFinding = z.output<typeof property>;
/** The worst that a finding leads to. */
export type Effect = (typeof effects)[number];
/** What to do about a finding. */
export type Fix = z.output<typeof fix>;
/** A resource of a stack, as a report names it. */
export type ResourceRef = z.output<typeof resource>;
/** Where the program declares a resource. */
export type Location = z.output<typeof location>;
/** An event dataset or a model that no given stack holds. */
export type Unmanaged = z.output<typeof unmanaged>;
/** An object that a replacement or a deletion left behind. */
export type Orphan = z.output<typeof orphan>;
/** A resource that the API does not report wholly. */
export type Unobservable = z.output<typeof unobservable>;
/** Both comparisons of one stack. */
export type StackReport = z.output<typeof stackReport>;
/** Both comparisons of all given stacks. */
export type Report = z.output<typeof reportSchema>;
