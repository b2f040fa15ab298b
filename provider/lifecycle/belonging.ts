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
 * Where a thing is, as far as the state knows: at the configured service; there too, but remembered under another
 * address; or gone with the data of an embedded service. What belongs to another service is refused, for there it would
 * be taken for gone. State of before the service was kept in it is taken to be of the configured one.
 */
export function whereabouts(row: Properties, settings: Settings): "here" | "moved" | "gone" {
  const { __service: service, __instance: instance } = row;
  if (service === undefined) return "here";
  const { baseUrl } = settings;
  const isSameAddress = service.replace(/\/+$/, "") === baseUrl.replace(/\/+$/, "");
  const data = embeddedFolder(service) === undefined ? undefined : instanceHere(baseUrl);
  if (isHeld(isSameAddress, instance, data)) return isSameAddress ? "here" : "moved";
  if (saysYes(process.env.RECOMMENDER_SERVICE_MOVED)) return "moved";
  if (isSameAddress) return "gone";
  throw new Error(
    `This resource belongs to the service at ${service}, but ${baseUrl} is configured. Configure the former with ` +
      "recommender:baseUrl or RECOMMENDER_BASE_URL, or as the baseUrl of the provider that the program gives it. If it is the same service under another address: " +
      "RECOMMENDER_SERVICE_MOVED=1",
  );
}

/** Whether the configured service holds a thing, by the mark of its data; `data` is empty where there is none. */
function isHeld(isSameAddress: boolean, instance: string | undefined, data: string | undefined): boolean {
  // A service elsewhere has no mark, nor has data that an older version wrote.
  if (data === undefined) return isSameAddress;
  // Older versions kept none in the state.
  if (instance === undefined) return isSameAddress && data !== "";
  return data === instance;
}

/** The same, where what is gone cannot be worked with. */
export function refuseGone(row: Properties, settings: Settings): "here" | "moved" {
  const where = whereabouts(row, settings);
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
