import { consequenceOfChange, consequenceOfDrift, type Operation } from "../../../cli/drift/consequence";
import {
  type Finding,
  type PropertyFinding,
  type Report,
  reportVersion,
  type StackReport,
} from "../../../cli/drift/finding";
import { FixCommands } from "../../../cli/drift/fix-commands";
import { languageOf } from "../../../cli/drift/language";

const urn = (type: string, name: string) =>
  `urn:pulumi:dev::shop::pulumi-nodejs:dynamic/recommender:${type}::${name}`;

const commands = new FixCommands("dev", process.cwd(), [], languageOf("nodejs"));

/** Returns a pending change. */
export function change(
  operation: Operation,
  type: string,
  name: string,
  properties: PropertyFinding[] = [],
): Finding {
  const kinds = { create: "created", update: "changed", replace: "replaced", delete: "deleted" } as const;
  const [effect, text] = consequenceOfChange(type, operation, properties);
  const location = { file: "index.ts", line: 12, column: 16 };
  const base = {
    kind: kinds[operation],
    resource: { urn: urn(type, name), type, name },
    properties,
    location,
  };
  return { ...base, also: [], effect, consequence: text, fixes: commands.change(base) };
}

/** Returns a drift finding. */
export function drifted(
  kind: "changed" | "deleted" | "not serving",
  type: string,
  name: string,
  properties: PropertyFinding[] = [],
): Finding {
  const [effect, text] = consequenceOfDrift(type, kind, properties, []);
  const location = { file: "src/data sets.ts", line: 7, column: 1 };
  const resource = { urn: urn(type, name), type, name, id: `${type}-1` };
  const base = { kind, resource, properties, location };
  const paths = properties.map(({ path }) => path);
  return { ...base, also: [], effect, consequence: text, fixes: commands.drift(base, paths) };
}

/** Returns a report with findings of every kind. */
export function stackReport(parts: Partial<StackReport> = {}): StackReport {
  const shards = { path: "numShards", declared: 4, actual: 2, replaces: true as const };
  const unmanaged = { kind: "unmanaged" as const, type: "EventDataset" as const, id: "e-9", name: "by hand" };
  return {
    stack: "dev",
    project: "shop",
    folder: "infra",
    resources: 9,
    observed: 5,
    changes: [
      change("replace", "EventDataset", "clicks", [shards]),
      change("replace", "Model", "weekly", [{ path: "triggers[0]", declared: "w2", actual: "w1" }]),
      change("update", "Deployment", "live", [{ path: "qps", declared: 30, actual: 20 }]),
      change("create", "Algorithm", "g2", [{ path: "name", declared: "g2" }]),
    ],
    drift: [
      drifted("deleted", "EventDataset", "spare"),
      drifted("not serving", "Deployment", "live"),
      drifted("changed", "EventDataset", "events", [
        { path: "attributeSchema.place", declared: "CATEGORICAL", actual: "NUMERICAL" },
        { path: "name", declared: "[secret]", actual: "[secret]", secret: true },
      ]),
    ],
    unmanaged: [{ ...unmanaged, fixes: commands.unmanaged(unmanaged, { numShards: 3 }) }],
    orphans: [
      {
        type: "Project",
        id: "p-7",
        name: "old shop",
        leftBy: "shop/dev/shop",
        fixes: commands.orphan("p-7"),
      },
    ],
    unobservable: [
      { resource: { urn: urn("Project", "shop"), type: "Project", name: "shop" }, part: "it", whole: true },
      {
        resource: { urn: urn("Deployment", "live"), type: "Deployment", name: "live" },
        part: "which models serve",
        whole: false,
      },
    ],
    accepted: [],
    expired: [],
    unused: [],
    warnings: ["recommender:apiKey is stored as plain text."],
    fixes: commands.all,
    ...parts,
  };
}

/** Returns a report of the given stacks. */
export function reportOf(...stacks: StackReport[]): Report {
  const found = stacks.some(({ changes, drift }) => changes.length + drift.length > 0);
  const comparedAt = "2026-11-15T17:20:00.000Z";
  return { version: reportVersion, verdict: found ? "found" : "clean", comparedAt, stacks };
}

/** Returns a stack without findings. */
export function cleanStack(): StackReport {
  return stackReport({ changes: [], drift: [], unmanaged: [], orphans: [], warnings: [] });
}
