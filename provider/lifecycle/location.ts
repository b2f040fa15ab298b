import { resolve } from "node:path";
import { embeddedDirectory, isEnabled, type Settings } from "../../client/settings";
import type { instanceIn } from "../../service/embedded";
import { accountOf } from "../run/account";
import type { Properties } from "../run/state-entry";

/** What the state remembers of the service and the account that a thing belongs to. */
export function serviceProperties(settings: Settings): Properties {
  const { baseUrl } = settings;
  const [instance, account] = [embeddedInstance(baseUrl), accountOf(settings)];
  return {
    __service: baseUrl,
    ...(instance && { __instance: instance }),
    ...(account && { __account: account }),
  };
}

/** Where a thing is: at the configured service, there under a new address, or gone with its data. */
export type Location = "here" | "moved" | "gone";

/**
 * Where a thing is, as far as the state knows: at the configured service, whose data the state may know under another
 * address; there too, as the user says; or gone with the data of an embedded service. What belongs to another service is
 * refused, for there it would be taken for gone. State of before the service was kept in it is taken to be of the
 * configured one.
 */
export async function locationOf(row: Properties, settings: Settings): Promise<Location> {
  const { __service: service, __instance: instance } = row;
  if (service === undefined) return "here";
  const { baseUrl } = settings;
  const isSameAddress = service.replace(/\/+$/, "") === baseUrl.replace(/\/+$/, "");
  const known = embeddedDirectory(service) === undefined ? undefined : instance;
  const { isStored, doubt } = await isInService(isSameAddress, known, baseUrl);
  if (isStored) return "here";
  if (isEnabled(process.env.RECOMMENDER_SERVICE_MOVED)) return "moved";
  if (isSameAddress) return "gone";
  throw new Error(
    `This resource belongs to the service at ${service}, but ${baseUrl} is configured. Configure the former with ` +
      "recommender:baseUrl or RECOMMENDER_BASE_URL, or as the baseUrl of the provider that the program gives it. If it is the same service under another address: " +
      `RECOMMENDER_SERVICE_MOVED=1${doubt ? ` (${doubt})` : ""}`,
  );
}

/**
 * Whether the configured service holds a thing: by its address, or, where an embedded one was left, by the data that the
 * state knows it to be in.
 */
async function isInService(
  isSameAddress: boolean,
  instance: string | undefined,
  baseUrl: string,
): Promise<{ readonly isStored: boolean; readonly doubt?: string | undefined }> {
  if (embeddedDirectory(baseUrl) === undefined) {
    // One elsewhere is asked only where the state knows another address.
    if (isSameAddress || instance === undefined) return { isStored: isSameAddress };
    const there = await remoteInstance(baseUrl);
    return { isStored: there.id === instance, doubt: there.failure };
  }
  const data = embeddedInstance(baseUrl);
  // Data that an older version wrote has no mark, and older versions kept none in the state.
  if (data === undefined) return { isStored: isSameAddress };
  return { isStored: instance === undefined ? isSameAddress && data !== "" : data === instance };
}

/** Refuses what is gone, where it cannot be worked with. */
export function rejectGone(where: Location, settings: Settings): "here" | "moved" {
  if (where !== "gone") return where;
  const folder = resolve(embeddedDirectory(settings.baseUrl) ?? "");
  throw new Error(
    `The service in ${folder} no longer holds this resource: its data was reset, or is from another folder. ` +
      "`pulumi up --refresh` removes what is gone from the state and creates it again; `pulumi destroy` only forgets " +
      "it. If the data is in another folder, configure it: `pulumi config set recommender:baseUrl embedded:DIR`.",
  );
}

function embeddedInstance(baseUrl: string): string | undefined {
  const folder = embeddedDirectory(baseUrl);
  if (folder === undefined) return undefined;
  // Loaded when it is needed: a program that uses a real service does not pay for it.
  const { instanceIn: read } = require("../../service/embedded") as { instanceIn: typeof instanceIn };
  return read(folder);
}

/** Which data a service elsewhere says that it holds; or why it does not say. */
interface RemoteInstance {
  readonly id?: string | undefined;
  readonly failure?: string;
}

const instanceRequests = new Map<string, Promise<RemoteInstance>>();

/** Asked once in a run. */
function remoteInstance(baseUrl: string): Promise<RemoteInstance> {
  const address = `${baseUrl.replace(/\/+$/, "")}/healthz`;
  const answer =
    instanceRequests.get(address) ??
    fetchInstance(address).catch(({ message }: Error) => ({
      failure: `${address} does not say which data it holds: ${message}`,
    }));
  instanceRequests.set(address, answer);
  return answer;
}

async function fetchInstance(address: string): Promise<RemoteInstance> {
  const reply = await fetch(address, { signal: AbortSignal.timeout(10_000) });
  if (!reply.ok) throw new Error(`status ${reply.status}`);
  const { instance_id: id } = (await reply.json()) as { instance_id?: unknown };
  return { id: typeof id === "string" ? id : undefined };
}
