import type { ConfigMap } from "@pulumi/pulumi/automation";
import { connect } from "../../client/connect";
import { isOffered } from "../../client/extensions";
import { type Route, routes } from "../../contract";
import { resourceTypeOf } from "../../provider/run/urn";
import type { OpenStack, StateResource } from "../stack/open";
import { explicitProviderOf, providerSettings } from "../stack/providers";
import { definitionOf } from "./resource";

/** Returns whether a resource's service supports an API extension, and the credentials allow its use. */
export type ExtensionSupport = (resource: StateResource, route: Route) => boolean;

/** Checks, for each service that a stack uses, which extensions for reading resources are available. */
export async function readExtensionSupport(
  open: OpenStack,
  resources: readonly StateResource[],
  config: ConfigMap,
): Promise<ExtensionSupport> {
  const supported = new Map<string, ReadonlySet<Route>>();
  for (const resource of resources) {
    const provider = explicitProviderOf(resource) ?? "";
    if (supported.has(provider) || readRoute(resource) === undefined) continue;
    const sameService = resources.filter((other) => (explicitProviderOf(other) ?? "") === provider);
    const needed = new Set(sameService.flatMap((other) => readRoute(other) ?? []));
    const full = provider === "" ? [] : (await open.state()).resources;
    const settings = providerSettings(resource, full, open);
    const client = settings ? await connect(settings) : await open.connect(config);
    try {
      const found: Route[] = [];
      for (const route of needed) if (await isOffered(client, route)) found.push(route);
      supported.set(provider, new Set(found));
    } finally {
      await client.close();
    }
  }
  return (resource, route) => supported.get(explicitProviderOf(resource) ?? "")?.has(route) === true;
}

/** Returns the API extension that reads a resource, or undefined if none is needed. */
function readRoute({ type }: StateResource): Route | undefined {
  return resourceTypeOf(type) === "Deployment" ? routes.getDeployment : definitionOf(type)?.readWith;
}
