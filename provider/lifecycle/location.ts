import { resolve } from "node:path";
import { embeddedDirectory, isEnabled, type Settings } from "../../client/settings";
import type { instanceIn } from "../../service/embedded";
import { accountOf } from "../run/account";
import type { Properties } from "../run/state-entry";

/** Returns the properties that store the service and account of an object. */
export function serviceProperties(settings: Settings): Properties {
  const { baseUrl } = settings;
  const [instance, account] = [embeddedInstance(baseUrl), accountOf(settings)];
  return {
    __service: baseUrl,
    ...(instance && { __instance: instance }),
    ...(account && { __account: account }),
  };
}

/**
 * Location of an object: in the configured service (`here`), in that service at a new address (`moved`), or deleted
 * with the service's data (`gone`).
 */
export type Location = "here" | "moved" | "gone";

/**
 * Returns the location of an object according to the state. Throws if the object is in a different service, because it
 * would seem deleted. State of older versions does not name the service; its objects are assumed to be in the
 * configured one.
 */
export async function locationOf(state: Properties, settings: Settings): Promise<Location> {
  const { __service: service, __instance: instance } = state;
  if (service === undefined) return "here";
  const { baseUrl } = settings;
  const isSameAddress = service.replace(/\/+$/, "") === baseUrl.replace(/\/+$/, "");
  const known = embeddedDirectory(service) === undefined ? undefined : instance;
  const { isStored, doubt } = await isInService(isSameAddress, known, baseUrl);
  if (isStored) return "here";
  if (isEnabled(process.env.RECOMMENDER_SERVICE_MOVED)) return "moved";
  if (isSameAddress) return "gone";
  throw new Error(
    `This resource belongs to the service at ${service}, but ${baseUrl} is configured. Set recommender:baseUrl or ` +
      `RECOMMENDER_BASE_URL, or the baseUrl of the resource's provider, to ${service}. If both addresses belong to the same ` +
      `service, set RECOMMENDER_SERVICE_MOVED=1${doubt ? ` (${doubt})` : ""}.`,
  );
}

/**
 * Whether an object is in the configured service. The address decides, or the id of the data if the object was in an
 * embedded service.
 */
async function isInService(
  isSameAddress: boolean,
  instance: string | undefined,
  baseUrl: string,
): Promise<{ readonly isStored: boolean; readonly doubt?: string | undefined }> {
  if (embeddedDirectory(baseUrl) === undefined) {
    // The data id of a remote service is read only if the address differs from the state.
    if (isSameAddress || instance === undefined) return { isStored: isSameAddress };
    const remote = await remoteInstance(baseUrl);
    return { isStored: remote.id === instance, doubt: remote.failure };
  }
  const data = embeddedInstance(baseUrl);
  // Data and state of older versions have no instance id.
  if (data === undefined) return { isStored: isSameAddress };
  return { isStored: instance === undefined ? isSameAddress && data !== "" : data === instance };
}

/** Throws if the object is gone. Used by the steps that need the object. */
export function rejectGone(location: Location, settings: Settings): "here" | "moved" {
  if (location !== "gone") return location;
  const directory = resolve(embeddedDirectory(settings.baseUrl) ?? "");
  throw new Error(
    `The service in ${directory} no longer contains this resource: its data was reset, or is in another directory. ` +
      "Run `pulumi up --refresh` to create the missing resources again, or `pulumi destroy` to remove them from the " +
      "state. " +
      "If the data is in another directory, configure it: `pulumi config set recommender:baseUrl embedded:DIR`.",
  );
}

function embeddedInstance(baseUrl: string): string | undefined {
  const directory = embeddedDirectory(baseUrl);
  if (directory === undefined) return undefined;
  // Loaded on demand, because most programs use a remote service.
  const { instanceIn: read } = require("../../service/embedded") as { instanceIn: typeof instanceIn };
  return read(directory);
}

const instanceRequests = new Map<string, ReturnType<typeof fetchInstance>>();

/** Returns the id of a remote service's data, or the reason why it is unknown. It is requested once per process. */
function remoteInstance(baseUrl: string) {
  const address = `${baseUrl.replace(/\/+$/, "")}/healthz`;
  const request = instanceRequests.get(address) ?? fetchInstance(address);
  instanceRequests.set(address, request);
  return request;
}

async function fetchInstance(address: string): Promise<{ readonly id?: unknown; readonly failure?: string }> {
  try {
    const reply = await fetch(address, { signal: AbortSignal.timeout(10_000) });
    if (!reply.ok) throw new Error(`status ${reply.status}`);
    return { id: ((await reply.json()) as { instance_id?: unknown }).instance_id };
  } catch (error) {
    return { failure: `cannot read the id of its data from ${address}: ${(error as Error).message}` };
  }
}
