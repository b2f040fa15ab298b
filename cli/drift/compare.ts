import { existsSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { routes } from "../../contract";
import { resourceTypeOf } from "../../provider/run/urn";
import type { OpenStack, StateResource } from "../stack/open";
import { previewRefresh, previewUpdate, stateBeforeSteps } from "../stack/preview";
import { readProgramState } from "../stack/program";
import { defined } from "../terminal/output";
import { type ExtensionSupport, readExtensionSupport } from "./extension-support";
import { type Report, reportVersion, type StackReport, type Unobservable } from "./finding";
import { type FindingContext, findDrift, findPendingChanges } from "./findings";
import { FixCommands } from "./fix-commands";
import { languageOf } from "./language";
import { Declarations } from "./location";
import { redactAll, secretTexts } from "./masking";
import { definitionOf, isReported, refOf } from "./resource";
import { type Inventory, orphansOf, takeInventory, unmanagedOf } from "./unmanaged";

/** Compares a stack's program, state and service. Changes nothing. */
export async function compareStack(open: OpenStack): Promise<StackReport> {
  const [only] = (await compareStacks(open.location.cwd, [open])).stacks;
  return only as StackReport;
}

/** Compares several stacks. An object is unmanaged only if none of the stacks manages it. */
export async function compareStacks(cwd: string, stacks: readonly OpenStack[]): Promise<Report> {
  const comparedAt = new Date().toISOString();
  const program = readProgramState(cwd, "releases");
  const compared: StackComparison[] = [];
  for (const open of stacks) compared.push(await compareOne(open));
  const unmanaged = unmanagedOf(compared.map(({ inventory }) => inventory));
  const orphans = orphansOf(compared.map(({ report, inventory }) => ({ ...report, inventory })));
  for (const [at, { report, commands }] of compared.entries()) {
    for (const { numShards, ...found } of unmanaged[at] ?? [])
      report.unmanaged.push({ ...found, fixes: commands.unmanaged(found, defined({ numShards })) });
    for (const found of orphans[at] ?? [])
      report.orphans.push({ ...found, fixes: commands.orphan(found.id) });
  }
  const reports = compared.map(({ report, secrets }) => redactAll(report, secrets));
  const found = reports.some(({ changes, drift }) => changes.length + drift.length > 0);
  const { commit, changed } = await program;
  return {
    version: reportVersion,
    verdict: found ? "found" : "clean",
    comparedAt,
    ...(commit !== null && { commit }),
    ...(changed.length > 0 && { dirty: true as const }),
    stacks: reports,
  };
}

/** Engine operations that change nothing. */
const unchangedOps: readonly string[] = ["same", "refresh", "read"];

interface StackComparison {
  readonly report: StackReport;
  readonly commands: FixCommands;
  readonly inventory: Inventory | undefined;
  readonly secrets: readonly string[];
}

async function compareOne(open: OpenStack): Promise<StackComparison> {
  const { stack, cwd } = open.location;
  const { preview, refresh, inventory, config, secrets } = await observe(open);
  const differs = [...preview.steps, ...refresh.steps].some(({ op }) => !unchangedOps.includes(op));
  const state = differs ? (await open.state()).resources : stateBeforeSteps(refresh);
  const resources = state.filter(isReported);
  const language = languageOf(open.runtime);
  const urns = resources.map(({ urn }) => urn);
  const commands = new FixCommands(stack, resolve(cwd), urns, language);
  const isSupported = await readExtensionSupport(open, resources, config);
  const declarations = new Declarations(resolve(cwd), language, state);
  const context: FindingContext = { commands, state, locate: (urn) => declarations.locate(urn) };
  // Sort the list, because the order in the state differs from run to run.
  const unobservable = resources
    .flatMap((resource) => unobservablePart(resource, isSupported) ?? [])
    .sort((a, b) => a.resource.urn.localeCompare(b.resource.urn));
  const [changes, drift] = [findPendingChanges(preview, context), findDrift(refresh, context)];
  const reported = [...changes, ...drift].flatMap(({ resource, also }) => [resource.urn, ...also]);
  const warnings = [...preview.warnings, ...refresh.warnings].filter(
    ({ urn }) => !reported.includes(urn ?? ""),
  );
  const report = {
    stack,
    project: open.project,
    folder: pathInRepository(resolve(cwd)),
    resources: resources.length,
    observed: resources.length - unobservable.filter(({ whole }) => whole).length,
    changes,
    drift,
    unmanaged: [],
    orphans: [],
    unobservable,
    accepted: [],
    expired: [],
    unused: [],
    warnings: [...new Set(warnings.map(({ text }) => text))],
    fixes: commands.all,
  };
  return { report, commands, inventory, secrets };
}

/** Previews an update and a refresh in parallel, and lists the service's objects. Masks secrets in errors. */
async function observe(open: OpenStack) {
  const { environment } = open;
  const { config, preview: previewed } = previewUpdate(open);
  const refreshed = previewRefresh(open);
  const listed = refreshed.then(async (run) => {
    const settings = await config;
    return takeInventory(stateBeforeSteps(run), () => open.connect(settings));
  });
  try {
    const [preview, refresh, inventory] = await Promise.all([previewed, refreshed, listed]);
    const known = await config;
    return { preview, refresh, inventory, config: known, secrets: secretTexts(known, environment) };
  } catch (error) {
    const known = await config.catch(() => ({}));
    throw new Error(redactAll((error as Error).message, secretTexts(known, environment)));
  }
}

/** Returns the part of a resource that its service does not report, or undefined if it reports everything. */
function unobservablePart(resource: StateResource, isSupported: ExtensionSupport): Unobservable | undefined {
  const resourceType = resourceTypeOf(resource.type);
  const unobservable = (part: string, whole = true) => ({ resource: refOf(resource), part, whole });
  if (resourceType === "Deployment") {
    if (isSupported(resource, routes.getDeployment)) return undefined;
    return resource.inputs?.check
      ? unobservable("its live models", false)
      : unobservable("whether it is live, because it has no check, and its live models");
  }
  if (resourceType === undefined) {
    return /^pulumi-nodejs:dynamic/.test(resource.type)
      ? unobservable("whether its provider reads it")
      : undefined;
  }
  const { readable, readWith } = definitionOf(resource.type) ?? {};
  if (readable && (!readWith || isSupported(resource, readWith))) {
    return /Records$/.test(resourceType) ? unobservable("changes of single records", false) : undefined;
  }
  return unobservable(
    /Records$/.test(resourceType) ? "its records" : /Job$/.test(resourceType) ? "its job" : "any part of it",
  );
}

/**
 * Returns a directory's path from the root of its repository, as review tools expect it. Empty outside a repository.
 */
function pathInRepository(directory: string): string {
  let root = directory;
  while (!existsSync(join(root, ".git")) && dirname(root) !== root) root = dirname(root);
  return existsSync(join(root, ".git")) ? relative(root, directory).split(sep).join("/") : "";
}
