import { nounOf, titleOf } from "../../provider/run/urn";
import type { DryRun, Step } from "../stack/dry-run";
import type { StateResource } from "../stack/open";
import { type Commands, topOf } from "./commands";
import { type Operation, ofChange, ofDrift } from "./consequence";
import { effects, type Finding, type Location, type ResourceRef } from "./finding";
import { differences, secrets } from "./properties";
import { jobBeside, nounRulesOf, refOf } from "./resource";

/** What turns steps of the engine into findings: the commands, and where a resource is declared. */
export interface Reading {
  readonly commands: Commands;
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

/** Outputs that change with each response, or only together with an argument: another value is no drift by itself. */
const volatile = ["downloadUrl", "expiredAtSec", "deploymentJobId", "rolledBackJobId"];

/** What the program would change, the most dangerous first. */
export function pendingChangesOf({ steps }: DryRun, reading: Reading): Finding[] {
  const found = steps.filter(isReal).flatMap((step) => {
    const kind = changeKinds[step.op as keyof typeof changeKinds];
    return kind === undefined ? [] : [change(step, kind, reading)];
  });
  const olds = new Map(steps.map(({ urn, old }) => [urn, old?.inputs ?? {}]));
  return sorted(withoutJobs(found).map((finding) => withFixes(finding, found, olds, reading)));
}

/** A pending change with what to do about it: only what the program itself declares can be declared otherwise. */
function withFixes(
  finding: Finding & { readonly isUndone?: boolean },
  all: readonly Finding[],
  olds: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
  { commands, state }: Reading,
): Finding {
  const { isUndone = false, ...plain } = finding;
  const own = [finding.resource.urn, ...finding.also];
  const rows = state.filter(({ urn }) => own.includes(urn));
  const follows = (argument: string) => {
    const from = rows.flatMap(({ propertyDependencies }) => propertyDependencies?.[argument] ?? []);
    return all.find(({ resource: { urn } }) => from.includes(urn) && !own.includes(urn))?.resource;
  };
  const actual = Object.assign({}, ...own.toReversed().map((urn) => olds.get(urn)));
  return { ...plain, fixes: commands.change(plain, { actual, follows, isUndone }) };
}

/** What the service has changed, the most dangerous first. */
export function driftOf({ steps }: DryRun, reading: Reading): Finding[] {
  // A row that waits for its deletion is no drift: the next update deletes it, whether or not it still exists.
  const lasting = steps.filter((step) => isReal(step) && step.old?.delete !== true);
  const found = lasting.flatMap((step) => drift(step, reading) ?? []);
  return sorted(found.map((finding) => underItsCause(finding, found, reading)));
}

/** What depends on something that is gone too cannot be reverted by itself. */
function underItsCause(finding: Finding, all: readonly Finding[], { state }: Reading): Finding {
  const cause = all.find(
    ({ kind, resource }) =>
      kind === "deleted" && dependentsOf(resource.urn, state).some(({ urn }) => urn === finding.resource.urn),
  );
  if (!cause) return finding;
  const words = `It depends on ${titleOf(cause.resource)}, which is gone too: it is reverted with that.`;
  const { accept } = finding.fixes;
  return {
    ...finding,
    consequence: `${finding.consequence} ${words}`,
    fixes: { apply: cause.fixes.apply, accept },
  };
}

function change(step: Step, kind: "created" | "changed" | "replaced" | "deleted", reading: Reading): Finding {
  const [news, olds] = [step.new?.inputs ?? {}, step.old?.inputs ?? {}];
  const keys = step.keys ?? [];
  const differing = kind === "deleted" ? [] : differences(news, olds);
  const hidden = differing.length === 0 && kind !== "deleted" ? secrets(news) : [];
  const properties = [...differing, ...hidden].map((property) =>
    keys.includes(topOf(property.path)) ? { ...property, replaces: true as const } : property,
  );
  const operation = (step.op === "import" ? "create" : step.op) as Operation;
  const location = reading.locate(step.urn);
  const base = {
    kind,
    resource: refOf({ urn: step.urn, type: step.type, id: step.old?.id ?? "" }),
    properties,
    also: [],
    ...(step.old?.protect === true &&
      (kind === "replaced" || kind === "deleted") && { protected: true as const }),
    ...(location && { location }),
  };
  const noun = nounOf(step.type) ?? step.type;
  const { effect, words } = ofChange(noun, operation, properties, step.old?.retainOnDelete === true);
  return { ...base, effect, consequence: words, fixes: reading.commands.change(base) };
}

function drift(step: Step, reading: Reading): Finding | undefined {
  if (step.op !== "update" && step.op !== "delete") return undefined;
  const noun = nounOf(step.type) ?? step.type;
  const rules = nounRulesOf(step.type);
  const kind = step.op === "update" ? "changed" : noun === "Deployment" ? "not serving" : "deleted";
  const [olds, news] = [step.old?.outputs ?? {}, step.new?.outputs ?? {}];
  let properties: Finding["properties"] = [];
  if (kind === "changed") {
    const differing = differences(olds, news);
    const lasting = differing.filter(({ path }) => !volatile.includes(topOf(path)));
    if (differing.length > 0 && lasting.length === 0) return undefined;
    const hidden = secrets(news).filter(({ path }) => !volatile.includes(path));
    if (differing.length === 0 && hidden.length === 0) return undefined;
    properties = (differing.length > 0 ? lasting : hidden).map((property) =>
      rules?.replaceOn.includes(topOf(property.path)) ? { ...property, replaces: true as const } : property,
    );
  }
  const location = reading.locate(step.urn);
  const base = {
    kind: kind as Finding["kind"],
    resource: refOf({ urn: step.urn, type: step.type, id: step.old?.id ?? "" }),
    properties,
    also: [],
    ...(location && { location }),
  };
  const dependents = kind === "deleted" ? dependentsOf(step.urn, reading.state) : [];
  const { effect, words } = ofDrift(noun, kind, properties, dependents);
  const fixes = reading.commands.drift(base, rules?.argumentNames ?? [], news);
  return { ...base, effect, consequence: words, fixes };
}

/** A job belongs to the resource that waits for it: what changes the job is why that one changes. */
function withoutJobs(findings: readonly Finding[]): (Finding & { readonly isUndone?: boolean })[] {
  const byUrn = new Map(findings.map((finding) => [finding.resource.urn, finding]));
  const folded = new Set<string>();
  const merged = findings.map((finding) => {
    const jobType = jobBeside[finding.resource.type];
    const jobUrn = jobType && finding.resource.urn.replace(`:${finding.resource.type}::`, `:${jobType}::`);
    const job = jobUrn ? byUrn.get(jobUrn) : undefined;
    const own = finding.properties.filter(({ path }) => path !== "submittedJobId");
    if (!jobUrn || !job) {
      const isUndone = finding.kind === "changed" && own.length < finding.properties.length;
      return isUndone ? { ...finding, properties: own, isUndone } : finding;
    }
    folded.add(jobUrn);
    const paths = own.map(({ path }) => path);
    const added = job.properties.filter(({ path }) => path !== "name" && !paths.includes(path));
    return { ...finding, properties: [...own, ...added], also: [jobUrn] };
  });
  return merged.filter(({ resource }) => !folded.has(resource.urn));
}

/** Everything that depends on a resource, directly or not, without the jobs. */
function dependentsOf(urn: string, state: readonly StateResource[]): ResourceRef[] {
  const reached = new Set([urn]);
  // The engine keeps what depends on something after it.
  for (const { urn: own, dependencies = [] } of state) {
    if (dependencies.some((dependency) => reached.has(dependency))) reached.add(own);
  }
  const jobs = Object.values(jobBeside);
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

function isReal({ type, urn }: Step): boolean {
  return !type.startsWith("pulumi:") && urn.includes("::");
}
