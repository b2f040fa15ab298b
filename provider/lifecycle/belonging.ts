import { resolve } from "node:path";
import { embeddedDirectory, isEnabled, type Settings } from "../../client/settings";
import type { instanceIn } from "../../service/embedded";
import { accountOf } from "../run/account";
import type { Properties } from "../run/state-entry";

/** What the state remembers of the service and the account that a thing belongs to. */
export function serviceMark(settings: Settings): Properties {
  const { baseUrl } = settings;
  const [instance, account] = [instanceHere(baseUrl), accountOf(settings)];
  return {
    __service: baseUrl,
    ...(instance && { __instance: instance }),
    ...(account && { __account: account }),
  };
}

/** Where a thing is: at the configured service, there under a new address, or gone with its data. */
export type Whereabouts = "here" | "moved" | "gone";

/**
 * Where a thing is, as far as the state knows: at the configured service, whose data the state may know under another
 * address; there too, as the user says; or gone with the data of an embedded service. What belongs to another service is
 * refused, for there it would be taken for gone. State of before the service was kept in it is taken to be of the
 * configured one.
 */
export async function whereabouts(row: Properties, settings: Settings): Promise<Whereabouts> {
  const { __service: service, __instance: instance } = row;
  if (service === undefined) return "here";
  const { baseUrl } = settings;
  const isSameAddress = service.replace(/\/+$/, "") === baseUrl.replace(/\/+$/, "");
  const known = embeddedDirectory(service) === undefined ? undefined : instance;
  const { isHeld, doubt } = await holding(isSameAddress, known, baseUrl);
  if (isHeld) return "here";
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
async function holding(
  isSameAddress: boolean,
  instance: string | undefined,
  baseUrl: string,
): Promise<{ readonly isHeld: boolean; readonly doubt?: string | undefined }> {
  if (embeddedDirectory(baseUrl) === undefined) {
    // One elsewhere is asked only where the state knows another address.
    if (isSameAddress || instance === undefined) return { isHeld: isSameAddress };
    const there = await instanceThere(baseUrl);
    return { isHeld: there.id === instance, doubt: there.failure };
  }
  const data = instanceHere(baseUrl);
  // Data that an older version wrote has no mark, and older versions kept none in the state.
  if (data === undefined) return { isHeld: isSameAddress };
  return { isHeld: instance === undefined ? isSameAddress && data !== "" : data === instance };
}

/** Refuses what is gone, where it cannot be worked with. */
export function refuseGone(where: Whereabouts, settings: Settings): "here" | "moved" {
  if (where !== "gone") return where;
  const folder = resolve(embeddedDirectory(settings.baseUrl) ?? "");
  throw new Error(
    `The service in ${folder} no longer holds this resource: its data was reset, or is from another folder. ` +
      "`pulumi up --refresh` removes what is gone from the state and creates it again; `pulumi destroy` only forgets " +
      "it. If the data is in another folder, configure it: `pulumi config set recommender:baseUrl embedded:DIR`.",
  );
}

function instanceHere(baseUrl: string): string | undefined {
  const folder = embeddedDirectory(baseUrl);
  if (folder === undefined) return undefined;
  // Loaded when it is needed: a program that uses a real service does not pay for it.
  const { instanceIn: read } = require("../../service/embedded") as { instanceIn: typeof instanceIn };
  return read(folder);
}

/** Which data a service elsewhere says that it holds; or why it does not say. */
interface Answer {
  readonly id?: string | undefined;
  readonly failure?: string;
}

const asked = new Map<string, Promise<Answer>>();

/** Asked once in a run. */
function instanceThere(baseUrl: string): Promise<Answer> {
  const address = `${baseUrl.replace(/\/+$/, "")}/healthz`;
  const answer =
    asked.get(address) ??
    askInstance(address).catch(({ message }: Error) => ({
      failure: `${address} does not say which data it holds: ${message}`,
    }));
  asked.set(address, answer);
  return answer;
}

async function askInstance(address: string): Promise<Answer> {
  const reply = await fetch(address, { signal: AbortSignal.timeout(10_000) });
  if (!reply.ok) throw new Error(`status ${reply.status}`);
  const { instance_id: id } = (await reply.json()) as { instance_id?: unknown };
  return { id: typeof id === "string" ? id : undefined };
}
