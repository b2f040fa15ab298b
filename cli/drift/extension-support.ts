import type { ConfigMap } from "@pulumi/pulumi/automation";
import { connect } from "../../client/connect";
import { isOffered } from "../../client/extensions";
import { type Route, routes } from "../../contract";
import { nounOf } from "../../provider/run/urn";
import type { OpenStack, StateResource } from "../stack/open";
import { explicitProviderOf, providerSettings } from "../stack/providers";
import { definitionOf } from "./resource";

/** Whether the service of a resource offers this caller an operation beyond the specification. */
export type ExtensionSupport = (resource: StateResource, route: Route) => boolean;

/** Asks each service of a stack which of the operations it offers that read the stack's resources. */
export async function readExtensionSupport(
  open: OpenStack,
  resources: readonly StateResource[],
  config: ConfigMap,
): Promise<ExtensionSupport> {
  const offered = new Map<string, ReadonlySet<Route>>();
  for (const resource of resources) {
    const provider = explicitProviderOf(resource) ?? "";
    if (offered.has(provider) || readRoute(resource) === undefined) continue;
    const beside = resources.filter((other) => (explicitProviderOf(other) ?? "") === provider);
    const needed = new Set(beside.flatMap((other) => readRoute(other) ?? []));
    const full = provider === "" ? [] : (await open.state()).resources;
    const settings = providerSettings(resource, full, open);
    const client = settings ? await connect(settings) : await open.connect(config);
    try {
      const found: Route[] = [];
      for (const route of needed) if (await isOffered(client, route)) found.push(route);
      offered.set(provider, new Set(found));
    } finally {
      await client.close();
    }
  }
  return (resource, route) => offered.get(explicitProviderOf(resource) ?? "")?.has(route) === true;
}

/** The operation beyond the specification that reads a resource; undefined if none is needed. */
function readRoute({ type }: StateResource): Route | undefined {
  return nounOf(type) === "Deployment" ? routes.getDeployment : definitionOf(type)?.readWith;
}
