import { existsSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { ConfigMap } from "@pulumi/pulumi/automation";
import { routes } from "../../contract";
import { nounOf } from "../../provider/run/urn";
import type { OpenStack, StateResource } from "../stack/open";
import { previewRefresh, previewUpdate, stateBeforeSteps } from "../stack/preview";
import { readProgramState } from "../stack/program";
import { type ExtensionSupport, readExtensionSupport } from "./extension-support";
import { type Report, reportVersion, type StackReport, type Unobservable } from "./finding";
import { type FindingContext, findDrift, findPendingChanges } from "./findings";
import { FixCommands } from "./fix-commands";
import { languageOf } from "./language";
import { Declarations } from "./location";
import { redactAll, secretTexts } from "./masking";
import { definitionOf, isReported, refOf } from "./resource";
import { type Inventory, orphansOf, takeInventory, unmanagedOf } from "./unmanaged";

/** Compares the program with the state and the state with the service; writes to neither. */
export async function compareStack(open: OpenStack): Promise<StackReport> {
  const [only] = (await compareStacks(open.location.cwd, [open])).stacks;
  return only as StackReport;
}

/** The same for several stacks: what one of them holds is unmanaged for none. */
export async function compareStacks(cwd: string, stacks: readonly OpenStack[]): Promise<Report> {
  const comparedAt = new Date().toISOString();
  const program = readProgramState(cwd, "releases");
  const compared: StackComparison[] = [];
  for (const open of stacks) compared.push(await compareOne(open));
  const unmanaged = unmanagedOf(compared.map(({ inventory }) => inventory));
  const orphans = orphansOf(compared.map(({ report, inventory }) => ({ ...report, inventory })));
  for (const [at, { report, commands }] of compared.entries()) {
    for (const { numShards, ...found } of unmanaged[at] ?? []) {
      const more = numShards === undefined ? {} : { numShards };
      report.unmanaged.push({ ...found, fixes: commands.unmanaged(found, more) });
    }
    for (const found of orphans[at] ?? [])
      report.orphans.push({ ...found, fixes: commands.orphan(found.id) });
  }
  const reports = compared.map(({ report, secrets }) => redactAll(report, secrets));
  const found = reports.some(({ changes, drift }) => changes.length + drift.length > 0);
  const { commit, changed } = await program;
  return {
    ...{ version: reportVersion, verdict: found ? "found" : "clean", comparedAt },
    ...(commit !== null && { commit }),
    ...(changed.length > 0 && { dirty: true as const }),
    stacks: reports,
  };
}

/** Steps after which everything is as it was. */
const unchangedOps: readonly string[] = ["same", "refresh", "read"];

interface StackComparison {
  readonly report: StackReport;
  readonly commands: FixCommands;
  readonly inventory: Inventory | undefined;
  readonly secrets: readonly string[];
}

async function compareOne(open: OpenStack): Promise<StackComparison> {
  const { location, environment } = open;
  let configured: (config: ConfigMap | Promise<ConfigMap>) => void = () => {};
  const config = new Promise<ConfigMap>((resolve) => {
    configured = resolve;
  });
  const previewed = previewUpdate(open, configured).finally(() => configured({}));
  const refreshed = previewRefresh(open);
  const listed = refreshed.then(async (run) => {
    const settings = await config;
    return takeInventory(stateBeforeSteps(run), () => open.connect(settings));
  });
  const secrets = config.then((known) => secretTexts(known, environment));
  const [preview, refresh, inventory] = await Promise.all([previewed, refreshed, listed]).catch(
    async (error: Error) => {
      throw new Error(redactAll(error.message, await secrets.catch(() => secretTexts({}, environment))));
    },
  );
  const differs = [...preview.steps, ...refresh.steps].some(({ op }) => !unchangedOps.includes(op));
  const state = differs ? (await open.state()).resources : stateBeforeSteps(refresh);
  const resources = state.filter(isReported);
  const language = languageOf(open.runtime);
  const commands = new FixCommands(
    location.stack,
    resolve(location.cwd),
    resources.map(({ urn }) => urn),
    language,
  );
  const offers = await readExtensionSupport(open, resources, await config);
  const declarations = new Declarations(resolve(location.cwd), language, state);
  const reading: FindingContext = { commands, state, locate: (urn) => declarations.locate(urn) };
  // By name: the order of the state is that in which the engine happened to come to them.
  const unobservable = resources
    .flatMap((resource) => unobservablePart(resource, offers) ?? [])
    .sort((a, b) => a.resource.urn.localeCompare(b.resource.urn));
  const [changes, drift] = [findPendingChanges(preview, reading), findDrift(refresh, reading)];
  const reported = [...changes, ...drift].flatMap(({ resource, also }) => [resource.urn, ...also]);
  const warnings = [...preview.warnings, ...refresh.warnings].filter(
    ({ urn }) => !reported.includes(urn ?? ""),
  );
  const report = {
    stack: location.stack,
    project: open.project,
    folder: pathInRepository(resolve(location.cwd)),
    resources: resources.length,
    observed: resources.length - unobservable.filter(({ whole }) => whole).length,
    changes,
    drift,
    unmanaged: [],
    orphans: [],
    unobservable,
    warnings: [...new Set(warnings.map(({ text }) => text))],
    fixes: commands.all,
  };
  return { report, commands, inventory, secrets: await secrets };
}

/** What of a resource its service does not report. */
function unobservablePart(resource: StateResource, offers: ExtensionSupport): Unobservable | undefined {
  const noun = nounOf(resource.type);
  const of = (part: string, whole = true) => ({ resource: refOf(resource), part, whole });
  if (noun === "Deployment") {
    if (offers(resource, routes.getDeployment)) return undefined;
    return resource.inputs?.check
      ? of("which models serve", false)
      : of("whether it serves, as it has no check, and which models do");
  }
  if (noun === undefined) {
    return /^pulumi-nodejs:dynamic/.test(resource.type)
      ? of("whether its provider reads it back")
      : undefined;
  }
  const { readable, readWith } = definitionOf(resource.type) ?? {};
  if (readable && (!readWith || offers(resource, readWith))) {
    return /Records$/.test(noun) ? of("whether single records were changed", false) : undefined;
  }
  return of(/Records$/.test(noun) ? "its records" : /Job$/.test(noun) ? "its job" : "the whole of it");
}

/** Where a folder is in its repository: tools for reviews name files from there. */
function pathInRepository(folder: string): string {
  let root = folder;
  while (!existsSync(join(root, ".git")) && dirname(root) !== root) root = dirname(root);
  return existsSync(join(root, ".git")) ? relative(root, folder).split(sep).join("/") : "";
}
