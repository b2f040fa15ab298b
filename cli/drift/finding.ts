import { z } from "zod";

/** Version of the report format. Increased when programs that read the previous format would misread the report. */
export const reportVersion = 2;

const resource = z
  .object({
    urn: z.string().describe("URN of the resource"),
    type: z.string().describe("EventDataset, Model, …; the full type for resources of other providers"),
    name: z.string().describe("Logical name"),
    id: z.string().optional().describe("Id in the service, if it is known"),
  })
  .meta({ id: "Resource" });

const location = z
  .object({
    file: z.string().describe("Path relative to the project directory, with /"),
    line: z.int().min(1),
    column: z.int().min(1),
  })
  .meta({ id: "Location", description: "Where the program declares the resource" });

const property = z
  .object({
    path: z.string().describe("Path of the property, as in attributeSchema.age or triggers[0]"),
    declared: z.json().optional().describe("Declared value; absent if nothing is declared"),
    actual: z.json().optional().describe("Actual value; absent if there is none"),
    secret: z.literal(true).optional().describe("The values are masked"),
    unknown: z.literal(true).optional().describe("The value is known only after other changes"),
    replaces: z.literal(true).optional().describe("A change replaces the resource"),
    accepted: z.literal(true).optional().describe("recommender.yaml accepts it, but not the whole finding"),
  })
  .meta({ id: "Property" });

const fix = z
  .object({
    edit: z.string().optional().describe("First step: an edit of the program"),
    command: z.string().optional().describe("Second step: a command to run"),
  })
  .meta({ id: "Fix" });

/** Effects of findings, worst first. Reports list findings in this order. */
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

/** Kinds of findings. */
export const kinds = ["created", "changed", "replaced", "deleted", "not serving", "unmanaged"] as const;

const finding = z
  .object({
    kind: z.enum(kinds),
    resource,
    properties: z.array(property),
    effect: z.enum(effects).describe("Worst effect of applying or reverting it"),
    consequence: z.string().describe("Description of the consequence"),
    also: z.array(z.string()).describe("URNs of jobs that belong to the resource"),
    protected: z.literal(true).optional().describe("The protect option prevents it"),
    fixes: z
      .object({
        apply: fix.describe("Makes the service match the program"),
        accept: fix.describe("Makes the program match the service"),
      })
      .meta({ id: "Fixes" }),
    location: location.optional(),
  })
  .meta({ id: "Finding" });

const acceptance = z
  .object({
    resource: z.string().describe("Resource, as in recommender.yaml"),
    property: z.string().optional().describe("Accepted property; absent if the whole finding is accepted"),
    reason: z.string(),
    until: z.string().describe("Last day of the acceptance, in UTC, as 2027-01-31"),
    location: location.describe("Where recommender.yaml contains the entry"),
  })
  .meta({ id: "Acceptance", description: "An entry of drift.accept in recommender.yaml" });

const accepted = z
  .object({
    comparison: z.enum(["drift", "changes"]),
    finding,
    by: z.array(acceptance).min(1).describe("The entries that accept it"),
  })
  .meta({ id: "Accepted", description: "A finding that recommender.yaml accepts" });

const announced = z
  .object({
    key: z.string().describe("Identifies the finding in later reports"),
    title: z.string(),
  })
  .meta({ id: "Announced", description: "A finding by its identity" });

const since = z
  .object({
    comparedAt: z.string().describe("Time of the earlier report"),
    added: z.array(announced).describe("Findings that the earlier report does not contain"),
    resolved: z.array(announced).describe("Findings that only the earlier report contains"),
  })
  .meta({ id: "Since", description: "Comparison with an earlier report" });

const unmanaged = z
  .object({
    kind: z.literal("unmanaged"),
    type: z.enum(["EventDataset", "Model"]),
    id: z.string(),
    name: z.string(),
    projectId: z.string().optional().describe("The project of a model"),
    fixes: z.object({ apply: fix, accept: fix }),
  })
  .meta({ id: "Unmanaged", description: "Exists in the service, but no given stack manages it" });

const orphan = z
  .object({
    type: z.enum(["UserDataset", "ItemDataset", "Project", "Algorithm"]),
    id: z.string(),
    name: z.string(),
    leftBy: z.string().optional().describe("The resource that left it behind, as PROJECT/STACK/RESOURCE"),
    blockedBy: z.string().optional().describe("Why it cannot be deleted yet"),
    fixes: z.object({ apply: fix.describe("Deletes it permanently") }),
  })
  .meta({
    id: "Orphan",
    description: "Left behind by a replacement or deletion, and not used by any given stack",
  });

const unobservable = z
  .object({
    resource,
    part: z.string().describe("The part that cannot be observed"),
    whole: z.boolean().describe("Whether no part can be observed"),
  })
  .meta({
    id: "Unobservable",
    description: "A resource, or part of it, that the API cannot read. It may have drifted",
  });

const stackReport = z
  .object({
    stack: z.string(),
    project: z.string(),
    folder: z.string().describe("Directory of the project in its repository; empty for the root"),
    resources: z.int().describe("Number of resources in the state, without providers and components"),
    observed: z.int().describe("Number of resources that the service reports at least in part"),
    changes: z.array(finding).describe("Differences between program and state: what an update would do"),
    drift: z.array(finding).describe("Differences between state and service: changes outside the program"),
    unmanaged: z.array(unmanaged),
    orphans: z.array(orphan).describe("Orphaned objects, if the service keeps a list of them"),
    unobservable: z.array(unobservable),
    accepted: z.array(accepted).default([]).describe("Findings that recommender.yaml accepts"),
    expired: z.array(acceptance).default([]).describe("Entries of recommender.yaml whose date has passed"),
    unused: z.array(acceptance).default([]).describe("Entries of recommender.yaml that match no finding"),
    since: since.optional().describe("With --since: what is new or resolved"),
    announced: z
      .array(announced)
      .optional()
      .describe("With --notify: the findings that the webhook knows and that are not resolved yet"),
    warnings: z.array(z.string()).describe("Warnings of the engine and the provider"),
    fixes: z
      .object({ apply: z.string(), accept: z.string() })
      .describe("Commands for all drift of the stack at once"),
  })
  .meta({ id: "StackReport" });

/** Schema of the report that `--format json` prints. */
export const reportSchema = z
  .object({
    version: z.literal(reportVersion),
    verdict: z.enum(["clean", "found"]).describe("Accepted findings do not count; expired entries do"),
    comparedAt: z.string().describe("Start of the comparison, as ISO 8601 in UTC"),
    commit: z.string().optional().describe("Git commit of the program, if there is one"),
    dirty: z.literal(true).optional().describe("The program has uncommitted changes"),
    stacks: z.array(stackReport),
  })
  .meta({ title: "Report of recommender drift" });

/** Returns the JSON Schema (2020-12) of the JSON report. */
export function jsonSchema(): object {
  return z.toJSONSchema(reportSchema);
}

/** A difference between the program and the state, or between the state and the service. */
export type Finding = z.output<typeof finding>;
/** One property of a finding. */
export type PropertyFinding = z.output<typeof property>;
/** Worst effect of a finding. */
export type Effect = (typeof effects)[number];
/** Steps that resolve a finding. */
export type Fix = z.output<typeof fix>;
/** A resource in a report. */
export type ResourceRef = z.output<typeof resource>;
/** Source position of a declaration. */
export type Location = z.output<typeof location>;
/** An event dataset or model that no given stack manages. */
export type Unmanaged = z.output<typeof unmanaged>;
/** An object that a replacement or deletion left behind. */
export type Orphan = z.output<typeof orphan>;
/** A resource that the API cannot read at all, or only in part. */
export type Unobservable = z.output<typeof unobservable>;
/** An entry of `drift.accept` in recommender.yaml. */
export type Acceptance = z.output<typeof acceptance>;
/** A finding that recommender.yaml accepts. */
export type Accepted = z.output<typeof accepted>;
/** A finding by its identity, for comparisons with other reports. */
export type Announced = z.output<typeof announced>;
/** Drift and pending changes of one stack. */
export type StackReport = z.output<typeof stackReport>;
/** Drift and pending changes of all given stacks. */
export type Report = z.output<typeof reportSchema>;
