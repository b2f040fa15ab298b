import { version } from "../../../package.json";
import { titleOf } from "../../../provider/run/urn";
import type { Acceptance, Finding, Report, StackReport } from "../finding";
import { fixSteps, isDangerous, orphanDetails, propertyText, withoutControls } from "./wording";

const rules = {
  "drift/changed": "A resource was changed outside the program",
  "drift/deleted": "A resource was deleted outside the program",
  "drift/not-serving": "A deployment is no longer live",
  "change/created": "The program creates a resource",
  "change/changed": "The program changes a resource in place",
  "change/replaced": "The program replaces a resource",
  "change/deleted": "The program deletes a resource",
  unmanaged: "No given stack manages an existing object",
  orphaned: "A replacement or deletion left an object behind",
  unobservable: "A resource cannot be read, so it may have drifted",
  "acceptance/expired": "An entry of recommender.yaml has expired",
  "acceptance/unused": "An entry of recommender.yaml accepts no finding",
} as const;

type RuleId = keyof typeof rules;

const ruleIds = Object.keys(rules) as RuleId[];

interface Result {
  readonly rule: RuleId;
  readonly level: "error" | "warning" | "note";
  readonly key: string;
  readonly text: string;
  readonly location?: Finding["location"];
  readonly properties?: object;
  /** Why the finding is accepted. Viewers show accepted results separately, or not at all. */
  readonly suppressions?: readonly object[];
}

/** Renders a report as SARIF 2.1.0, with one run per stack. Results point to the declaration of their resource if there is one. */
export function renderSarif({ stacks }: Report): string {
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: stacks.map(run),
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function run(report: StackReport) {
  return {
    tool: {
      driver: {
        name: "recommender drift",
        semanticVersion: version,
        rules: Object.entries(rules).map(([id, text]) => ({ id, shortDescription: { text } })),
      },
    },
    automationDetails: { id: `recommender-drift/${encodeURI(report.project)}/${encodeURI(report.stack)}/` },
    originalUriBaseIds: { SRCROOT: { description: { text: "The root of the repository" } } },
    columnKind: "utf16CodeUnits",
    results: resultsOf(report).map((found) => result(found, report)),
  };
}

function resultsOf(report: StackReport): Result[] {
  const { drift, changes, unmanaged, orphans, unobservable, accepted, expired, unused } = report;
  return [
    ...drift.map((finding) => ofFinding("drift", finding)),
    ...changes.map((finding) => ofFinding("change", finding)),
    ...unmanaged.map(({ type, name, id, fixes }) => ({
      rule: "unmanaged" as const,
      level: "note" as const,
      key: id,
      text: `${type} ${name} (${id}) is in no given stack. ${fixesText(fixes)}`,
    })),
    ...orphans.map((found) => ({
      rule: "orphaned" as const,
      level: "note" as const,
      key: found.id,
      text: `${found.type} ${found.name} (${found.id}) is orphaned. ${[orphanDetails(found), `Delete it with ${fixSteps(found.fixes.apply).join(", then ")}`].filter(Boolean).join(". ")}.`,
    })),
    ...unobservable.map(({ resource, part }) => ({
      rule: "unobservable" as const,
      level: "note" as const,
      key: resource.urn,
      text: `${titleOf(resource)}: the API does not report ${part}.`,
    })),
    ...accepted.map(({ comparison, finding, by }) => ({
      ...ofFinding(comparison === "drift" ? "drift" : "change", finding),
      suppressions: by.map(({ reason, until, location }) => ({
        kind: "external",
        status: "accepted",
        justification: withoutControls(`${reason}; until ${until}, ${location.file}:${location.line}`),
      })),
    })),
    ...expired.map((entry) => ofEntry("expired", entry, `expired after ${entry.until}`)),
    ...unused.map((entry) => ofEntry("unused", entry, "matches no finding")),
  ];
}

function ofEntry(problem: "expired" | "unused", entry: Acceptance, text: string): Result {
  const { resource, property, location } = entry;
  const what = property === undefined ? resource : `${resource}, ${property}`;
  return {
    rule: `acceptance/${problem}`,
    level: problem === "expired" ? "error" : "note",
    key: what,
    text: `The entry for ${what} ${text}. Reason: ${entry.reason}`,
    location,
  };
}

function ofFinding(axis: "drift" | "change", finding: Finding): Result {
  const { kind, resource, properties, effect, consequence, fixes, location } = finding;
  const differing = properties.map(propertyText);
  const details = differing.length > 0 ? ` (${differing.join("; ")})` : "";
  return {
    rule: `${axis}/${kind.replace(" ", "-")}` as RuleId,
    level: isDangerous(finding) ? "error" : axis === "drift" ? "warning" : "note",
    key: resource.urn,
    text: `${titleOf(resource)} ${kind}${details}. ${consequence} ${fixesText(fixes)}`,
    ...(location && { location }),
    properties: { effect, consequence, fixes, properties },
  };
}

function fixesText({ apply, accept }: Finding["fixes"]): string {
  return `Either ${fixSteps(apply).join(", then ")} — or ${fixSteps(accept).join(", then ")}.`;
}

function result(
  { rule, level, key, text, location, properties, suppressions }: Result,
  { folder, project, stack }: StackReport,
) {
  const prefix = folder === "" ? "" : `${folder}/`;
  // Viewers hide results without a location, so findings without a declaration point to Pulumi.yaml.
  const place = location ?? { file: "Pulumi.yaml", line: 1, column: 1 };
  return {
    ruleId: rule,
    ruleIndex: ruleIds.indexOf(rule),
    level,
    message: { text: withoutControls(text) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: encodeURI(`${prefix}${place.file}`), uriBaseId: "SRCROOT" },
          region: { startLine: place.line, startColumn: place.column },
        },
        logicalLocations: [{ fullyQualifiedName: key, kind: "resource" }],
      },
    ],
    partialFingerprints: { "resource/v1": `${project}/${stack} ${rule} ${key}` },
    ...(suppressions && { suppressions }),
    ...(properties && { properties }),
  };
}
