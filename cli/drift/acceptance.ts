import { type Policy, type PolicySettings, policyFile } from "../policy/file";
import type { Acceptance, Accepted, Finding, Report, StackReport } from "./finding";

type Entry = PolicySettings["drift"]["accept"][number];

/**
 * Moves the findings that the policy accepts to `accepted`, and lists expired and unused entries.
 *
 * A finding is accepted only as a whole: by an entry without a property, or by entries for all of its properties.
 * Reverting a finding reverts all of its properties, so a part of it cannot be ignored.
 */
export function acceptFindings(report: Report, policy: Policy, now: Date): Report {
  const entries = policy.drift.accept.map((entry, at) => ({
    ...entry,
    line: policy.lineOf(["drift", "accept", at]),
  }));
  const today = now.toISOString().slice(0, 10);
  const stacks = report.stacks.map((stack) => acceptInStack(stack, entries, today));
  const found = stacks.some(
    ({ changes, drift, expired }) => changes.length + drift.length + expired.length > 0,
  );
  return { ...report, verdict: found ? "found" : "clean", stacks };
}

function acceptInStack(
  report: StackReport,
  all: readonly (Entry & { readonly line: number })[],
  today: string,
): StackReport {
  const own = all.filter(({ stack }) => [report.stack, report.stack.split("/").at(-1)].includes(stack));
  const [current, expired] = [true, false].map((isCurrent) =>
    own.filter(({ until }) => until >= today === isCurrent).map(acceptanceOf),
  ) as [Acceptance[], Acceptance[]];
  const used = new Set<Acceptance>();
  const accepted: Accepted[] = [];
  const rest = (comparison: Accepted["comparison"]) =>
    report[comparison].flatMap((finding) => {
      const { by, isWhole, properties } = match(finding, current);
      for (const entry of by) used.add(entry);
      if (isWhole) accepted.push({ comparison, finding, by });
      return isWhole ? [] : [{ ...finding, properties }];
    });
  const [drift, changes] = [rest("drift"), rest("changes")];
  const unused = current.filter((entry) => !used.has(entry));
  return { ...report, drift, changes, accepted, expired, unused };
}

/** Finds the entries that accept a finding or some of its properties. */
function match(finding: Finding, entries: readonly Acceptance[]) {
  const { resource, kind, properties } = finding;
  const names = [resource.name, `${resource.type} ${resource.name}`, resource.urn];
  const own = entries.filter((entry) => names.includes(entry.resource));
  const whole = own.filter(({ property }) => property === undefined);
  if (whole.length > 0) return { by: whole, isWhole: true, properties };
  // An entry for a property cannot accept that the whole object is gone or not serving.
  const isAboutProperties = kind === "changed" || kind === "replaced";
  const by = new Set<Acceptance>();
  const marked = properties.map((property) => {
    const accepting = isAboutProperties ? own.filter((entry) => covers(entry.property, property.path)) : [];
    for (const entry of accepting) by.add(entry);
    return accepting.length > 0 ? { ...property, accepted: true as const } : property;
  });
  const isWhole = marked.length > 0 && marked.every(({ accepted }) => accepted);
  return { by: [...by], isWhole, properties: isWhole ? properties : marked };
}

/** Whether an entry's property is the path of a changed property, or contains it. */
function covers(property: string | undefined, path: string): boolean {
  return property !== undefined && path.startsWith(property) && /^($|[.[])/.test(path.slice(property.length));
}

function acceptanceOf({ resource, property, reason, until, line }: Entry & { line: number }): Acceptance {
  const location = { file: policyFile, line, column: 1 };
  return { resource, ...(property !== undefined && { property }), reason, until, location };
}
