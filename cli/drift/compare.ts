import { existsSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { ConfigMap } from "@pulumi/pulumi/automation";
import { routes } from "../../contract";
import { nounOf } from "../../provider/run/urn";
import { previewOf, refreshOf, stateIn } from "../stack/dry-run";
import type { OpenStack, StateResource } from "../stack/open";
import { programIn } from "../stack/program";
import { Commands } from "./commands";
import { type Report, reportVersion, type StackReport, type Unobservable } from "./finding";
import { driftOf, pendingChangesOf, type Reading } from "./findings";
import { languageOf } from "./language";
import { Declarations } from "./location";
import { redactAll, secretTexts } from "./masking";
import { type Offers, offersOf } from "./offers";
import { isReal, nounRulesOf, refOf } from "./resource";
import { type Inventory, orphansOf, takeInventory, unmanagedOf } from "./unmanaged";

/** Compares the program with the state and the state with the service; writes to neither. */
export async function compareStack(open: OpenStack): Promise<StackReport> {
  const [only] = (await compareStacks(open.of.cwd, [open])).stacks;
  return only as StackReport;
}

/** The same for several stacks: what one of them holds is unmanaged for none. */
export async function compareStacks(cwd: string, stacks: readonly OpenStack[]): Promise<Report> {
  const comparedAt = new Date().toISOString();
  const program = programIn(cwd, "releases");
  const compared: Compared[] = [];
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
const unchanging: readonly string[] = ["same", "refresh", "read"];

interface Compared {
  readonly report: StackReport;
  readonly commands: Commands;
  readonly inventory: Inventory | undefined;
  readonly secrets: readonly string[];
}

async function compareOne(open: OpenStack): Promise<Compared> {
  const { of, environment } = open;
  let configured: (config: ConfigMap | Promise<ConfigMap>) => void = () => {};
  const config = new Promise<ConfigMap>((resolve) => {
    configured = resolve;
  });
  const previewed = previewOf(open, configured).finally(() => configured({}));
  const refreshed = refreshOf(open);
  const listed = refreshed.then(async (run) => {
    const settings = await config;
    return takeInventory(stateIn(run), () => open.connect(settings));
  });
  const secrets = config.then((known) => secretTexts(known, environment));
  const [preview, refresh, inventory] = await Promise.all([previewed, refreshed, listed]).catch(
    async (error: Error) => {
      throw new Error(redactAll(error.message, await secrets.catch(() => secretTexts({}, environment))));
    },
  );
  const differs = [...preview.steps, ...refresh.steps].some(({ op }) => !unchanging.includes(op));
  const state = differs ? (await open.state()).resources : stateIn(refresh);
  const resources = state.filter(isReal);
  const language = languageOf(open.runtime);
  const commands = new Commands(
    of.stack,
    resolve(of.cwd),
    resources.map(({ urn }) => urn),
    language,
  );
  const offers = await offersOf(open, resources, await config);
  const declarations = new Declarations(resolve(of.cwd), language, state);
  const reading: Reading = { commands, state, locate: (urn) => declarations.locate(urn) };
  // By name: the order of the state is that in which the engine happened to come to them.
  const unobservable = resources
    .flatMap((resource) => unseenOf(resource, offers) ?? [])
    .sort((a, b) => a.resource.urn.localeCompare(b.resource.urn));
  const [changes, drift] = [pendingChangesOf(preview, reading), driftOf(refresh, reading)];
  const reported = [...changes, ...drift].flatMap(({ resource, also }) => [resource.urn, ...also]);
  const warnings = [...preview.warnings, ...refresh.warnings].filter(
    ({ urn }) => !reported.includes(urn ?? ""),
  );
  const report = {
    stack: of.stack,
    project: open.project,
    folder: folderInRepository(resolve(of.cwd)),
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
function unseenOf(resource: StateResource, offers: Offers): Unobservable | undefined {
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
  const { readable, readWith } = nounRulesOf(resource.type) ?? {};
  if (readable && (!readWith || offers(resource, readWith))) {
    return /Records$/.test(noun) ? of("whether single records were changed", false) : undefined;
  }
  return of(/Records$/.test(noun) ? "its records" : /Job$/.test(noun) ? "its job" : "the whole of it");
}

/** Where a folder is in its repository: tools for reviews name files from there. */
function folderInRepository(folder: string): string {
  let root = folder;
  while (!existsSync(join(root, ".git")) && dirname(root) !== root) root = dirname(root);
  return existsSync(join(root, ".git")) ? relative(root, folder).split(sep).join("/") : "";
}
