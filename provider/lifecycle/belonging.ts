import { resolve } from "node:path";
import { embeddedFolder, type Settings, saysYes } from "../../client/settings";
import type { instanceIn } from "../../service/embedded";
import type { Properties } from "../run/row";

/** What the state remembers of the service that a thing belongs to. */
export function serviceMark({ baseUrl }: Settings): Properties {
  const instance = instanceHere(baseUrl);
  return { __service: baseUrl, ...(instance && { __instance: instance }) };
}

/**
 * Where a thing is, as far as the state knows: at the configured service, whose data the state may know under another
 * address; there too, as the user says; or gone with the data of an embedded service. What belongs to another service is
 * refused, for there it would be taken for gone. State of before the service was kept in it is taken to be of the
 * configured one.
 */
export async function whereabouts(row: Properties, settings: Settings): Promise<"here" | "moved" | "gone"> {
  const { __service: service, __instance: instance } = row;
  if (service === undefined) return "here";
  const { baseUrl } = settings;
  const isSameAddress = service.replace(/\/+$/, "") === baseUrl.replace(/\/+$/, "");
  if (await isHeld(isSameAddress, instance, baseUrl)) return "here";
  if (saysYes(process.env.RECOMMENDER_SERVICE_MOVED)) return "moved";
  if (isSameAddress) return "gone";
  throw new Error(
    `This resource belongs to the service at ${service}, but ${baseUrl} is configured. Configure the former with ` +
      "recommender:baseUrl or RECOMMENDER_BASE_URL, or as the baseUrl of the provider that the program gives it. If it is the same service under another address: " +
      "RECOMMENDER_SERVICE_MOVED=1",
  );
}

/** Whether the configured service holds a thing: by its address, or by the data that the state knows it to be in. */
async function isHeld(
  isSameAddress: boolean,
  instance: string | undefined,
  baseUrl: string,
): Promise<boolean> {
  const data = instanceHere(baseUrl);
  // A service elsewhere is asked only when its address is not the known one.
  if (embeddedFolder(baseUrl) === undefined)
    return isSameAddress || (instance !== undefined && instance === (await instanceThere(baseUrl)));
  // Data that an older version wrote has no mark, and older versions kept none in the state.
  if (data === undefined) return isSameAddress;
  return instance === undefined ? isSameAddress && data !== "" : data === instance;
}

/** The same, where what is gone cannot be worked with. */
export async function refuseGone(row: Properties, settings: Settings): Promise<"here" | "moved"> {
  const where = await whereabouts(row, settings);
  if (where !== "gone") return where;
  const folder = resolve(embeddedFolder(settings.baseUrl) ?? "");
  throw new Error(
    `The service in ${folder} no longer holds this resource: its data was reset, or is from another folder. ` +
      "`pulumi up --refresh` removes what is gone from the state and creates it again; `pulumi destroy` only forgets " +
      "it. If the data is in another folder, configure it: `pulumi config set recommender:baseUrl embedded:DIR`.",
  );
}

function instanceHere(baseUrl: string): string | undefined {
  const folder = embeddedFolder(baseUrl);
  if (folder === undefined) return undefined;
  // Loaded when it is needed: a program that uses a real service does not pay for it.
  const { instanceIn: read } = require("../../service/embedded") as { instanceIn: typeof instanceIn };
  return read(folder);
}

const asked = new Map<string, Promise<string | undefined>>();

/** Which data a service elsewhere holds, asked once in a run; undefined where it does not say. */
function instanceThere(baseUrl: string): Promise<string | undefined> {
  const known = asked.get(baseUrl) ?? askInstance(baseUrl).catch(() => undefined);
  asked.set(baseUrl, known);
  return known;
}

async function askInstance(baseUrl: string): Promise<string | undefined> {
  const address = `${baseUrl.replace(/\/+$/, "")}/healthz`;
  const reply = await fetch(address, { signal: AbortSignal.timeout(10_000) });
  const { instance_id: id } = (await reply.json()) as { instance_id?: unknown };
  return typeof id === "string" ? id : undefined;
}
