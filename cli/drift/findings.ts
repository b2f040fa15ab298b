import { submitters } from "../../provider/jobs/other-project";
import { resourceTypeOf, titleOf } from "../../provider/run/urn";
import type { StateResource } from "../stack/open";
import type { Preview, Step } from "../stack/preview";
import { consequenceOfChange, consequenceOfDrift, type Operation } from "./consequence";
import { effects, type Finding, type Location, type ResourceRef } from "./finding";
import { argumentOf, type FixCommands } from "./fix-commands";
import { differences, secretProperties } from "./property-diff";
import { definitionOf, refOf } from "./resource";

/** Data for turning engine steps into findings: fix commands, state entries and source positions. */
export interface FindingContext {
  readonly commands: FixCommands;
  readonly state: readonly StateResource[];
  locate(urn: string): Location | undefined;
}

const changeKinds = {
  create: "created",
  import: "created",
  update: "changed",
  replace: "replaced",
  delete: "deleted",
} as const;

type ChangeKind = (typeof changeKinds)[keyof typeof changeKinds];

/** Outputs that differ in each response, or that change only together with an argument. Their changes are not drift. */
const volatile = ["downloadUrl", "expiredAtSec", "deploymentJobId", "rolledBackJobId"];

/** Returns what an update would change, most dangerous first. */
export function findPendingChanges({ steps }: Preview, context: FindingContext): Finding[] {
  const found = steps.filter(isResourceStep).flatMap((step) => {
    const kind = changeKinds[step.op as keyof typeof changeKinds];
    return kind === undefined ? [] : [change(step, kind, context)];
  });
  const olds = new Map(steps.map(({ urn, old }) => [urn, old?.inputs ?? {}]));
  return sorted(mergeJobs(found).map((finding) => withFixes(finding, found, olds, context)));
}

/**
 * Adds fixes to a pending change. If an argument gets its value from another changed resource, no edit of it is
 * suggested.
 */
function withFixes(
  finding: Finding & { readonly isUndone?: boolean },
  all: readonly Finding[],
  olds: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
  { commands, state }: FindingContext,
): Finding {
  const { isUndone = false, ...plain } = finding;
  const own = [finding.resource.urn, ...finding.also];
  const entries = state.filter(({ urn }) => own.includes(urn));
  const follows = (argument: string) => {
    const from = entries.flatMap(({ propertyDependencies }) => propertyDependencies?.[argument] ?? []);
    return all.find(({ resource: { urn } }) => from.includes(urn) && !own.includes(urn))?.resource;
  };
  const actual = Object.assign({}, ...own.toReversed().map((urn) => olds.get(urn)));
  return { ...plain, fixes: commands.change(plain, { actual, follows, isUndone }) };
}

/** Returns what has changed in the service, most dangerous first. */
export function findDrift({ steps }: Preview, context: FindingContext): Finding[] {
  // The next update deletes resources that wait for deletion, so their absence is not drift.
  const current = steps.filter((step) => isResourceStep(step) && step.old?.delete !== true);
  const found = current.flatMap((step) => drift(step, context) ?? []);
  return sorted(found.map((finding) => linkToCause(finding, found, context)));
}

/**
 * If a drifted resource depends on a deleted resource, suggests to revert the deleted resource, which restores both.
 */
function linkToCause(finding: Finding, all: readonly Finding[], { state }: FindingContext): Finding {
  const cause = all.find(
    ({ kind, resource }) =>
      kind === "deleted" && dependentsOf(resource.urn, state).some(({ urn }) => urn === finding.resource.urn),
  );
  if (!cause) return finding;
  const text = `It depends on ${titleOf(cause.resource)}, which was deleted too. Reverting that restores both.`;
  const consequence = `${finding.consequence} ${text}`;
  return { ...finding, consequence, fixes: { ...finding.fixes, apply: cause.fixes.apply } };
}

function change(step: Step, kind: ChangeKind, context: FindingContext): Finding {
  const [news, olds] = [step.new?.inputs ?? {}, step.old?.inputs ?? {}];
  const differing = kind === "deleted" ? [] : differences(news, olds);
  const hidden = differing.length === 0 && kind !== "deleted" ? secretProperties(news) : [];
  const properties = markReplacing([...differing, ...hidden], step.keys ?? []);
  const operation = (step.op === "import" ? "create" : step.op) as Operation;
  const isProtected = step.old?.protect === true && (kind === "replaced" || kind === "deleted");
  const base = {
    ...findingOf(step, kind, properties, context),
    ...(isProtected && { protected: true as const }),
  };
  const type = resourceTypeOf(step.type) ?? step.type;
  const [effect, text] = consequenceOfChange(type, operation, properties, step.old?.retainOnDelete === true);
  return { ...base, effect, consequence: text, fixes: context.commands.change(base) };
}

function drift(step: Step, context: FindingContext): Finding | undefined {
  if (step.op !== "update" && step.op !== "delete") return undefined;
  const type = resourceTypeOf(step.type) ?? step.type;
  const rules = definitionOf(step.type);
  const [olds, news] = [step.old?.outputs ?? {}, step.new?.outputs ?? {}];
  const isGone = step.op === "delete";
  const isNotServing = type === "Deployment" && (isGone || (news.checkFailed === true && !olds.checkFailed));
  const kind = isNotServing ? "not serving" : isGone ? "deleted" : "changed";
  let properties: Finding["properties"] = [];
  if (!isGone) {
    const differing = differences(olds, news);
    const stable = differing.filter(({ path }) => !volatile.includes(argumentOf(path)));
    if (differing.length > 0 && stable.length === 0) return undefined;
    const hidden = secretProperties(news).filter(({ path }) => !volatile.includes(path));
    if (differing.length === 0 && hidden.length === 0) return undefined;
    properties = markReplacing(differing.length > 0 ? stable : hidden, rules?.replaceOn ?? []);
  }
  const base = findingOf(step, kind, properties, context);
  const dependents = kind === "deleted" ? dependentsOf(step.urn, context.state) : [];
  const [effect, text] = consequenceOfDrift(type, kind, properties, dependents);
  const fixes = context.commands.drift(base, rules?.argumentNames ?? [], news);
  return { ...base, effect, consequence: text, fixes };
}

function findingOf(
  { urn, type, old }: Step,
  kind: Finding["kind"],
  properties: Finding["properties"],
  { locate }: FindingContext,
) {
  const location = locate(urn);
  const resource = refOf({ urn, type, id: old?.id ?? "" });
  return { kind, resource, properties, also: [], ...(location && { location }) };
}

/** Marks the properties whose change replaces the resource. */
function markReplacing(properties: Finding["properties"], keys: readonly string[]): Finding["properties"] {
  return properties.map((property) =>
    keys.includes(argumentOf(property.path)) ? { ...property, replaces: true as const } : property,
  );
}

/**
 * Merges the finding of each job into the finding of the resource that waits for the job, because the job's change
 * causes the resource's change.
 */
function mergeJobs(findings: readonly Finding[]): (Finding & { readonly isUndone?: boolean })[] {
  const byUrn = new Map(findings.map((finding) => [finding.resource.urn, finding]));
  const mergedJobs = new Set<string>();
  const merged = findings.map((finding) => {
    const jobType = submitters[finding.resource.type];
    const jobUrn = jobType && finding.resource.urn.replace(`:${finding.resource.type}::`, `:${jobType}::`);
    const job = jobUrn ? byUrn.get(jobUrn) : undefined;
    const own = finding.properties.filter(({ path }) => path !== "submittedJobId");
    if (!jobUrn || !job) {
      const isUndone = finding.kind === "changed" && own.length < finding.properties.length;
      return isUndone ? { ...finding, properties: own, isUndone } : finding;
    }
    mergedJobs.add(jobUrn);
    const paths = own.map(({ path }) => path);
    const added = job.properties.filter(({ path }) => path !== "name" && !paths.includes(path));
    return { ...finding, properties: [...own, ...added], also: [jobUrn] };
  });
  return merged.filter(({ resource }) => !mergedJobs.has(resource.urn));
}

/** Returns all direct and indirect dependents of a resource, except jobs. */
function dependentsOf(urn: string, state: readonly StateResource[]): ResourceRef[] {
  const reached = new Set([urn]);
  // In the state, dependents come after their dependencies.
  for (const { urn: own, dependencies = [] } of state) {
    if (dependencies.some((dependency) => reached.has(dependency))) reached.add(own);
  }
  const jobs = Object.values(submitters);
  return state
    .filter((resource) => resource.urn !== urn && reached.has(resource.urn))
    .map(refOf)
    .filter(({ type }) => !jobs.includes(type));
}

function sorted(findings: readonly Finding[]): Finding[] {
  const rank = ({ effect }: Finding) => effects.indexOf(effect);
  const key = ({ resource }: Finding) => resource.urn;
  return [...findings].sort((a, b) => rank(a) - rank(b) || (key(a) < key(b) ? -1 : 1));
}

function isResourceStep({ type, urn }: Step): boolean {
  return !type.startsWith("pulumi:") && urn.includes("::");
}
