import { explainHeader } from "../../contract";
import { ServiceError, shortened } from "../base/error";
import type { Readable } from "../serving/filters/admission";
import type { PublicKey } from "../store/clients";
import type { Call } from "./handler";

/** Rejects a call with a public key that asks for data that pages may not read. */
export function refuseHidden({ publicKey, headers }: Call, attributes: readonly string[]): void {
  if (!publicKey) return;
  if (headers[explainHeader] !== undefined)
    throw new ServiceError(
      "FORBIDDEN",
      `The public key ${publicKey.name} may not ask for reasons: they name items of the user. Leave out the header ` +
        `${explainHeader}.`,
    );
  const hidden = attributes.find((name) => !publicKey.pages.attributes.includes(name));
  if (hidden === undefined) return;
  const wanted = [...publicKey.pages.attributes, shortened(hidden)].join(",");
  throw new ServiceError(
    "FORBIDDEN",
    `The public key ${publicKey.name} may not read the item attribute ${shortened(hidden)}. An operator can allow it ` +
      `with \`recommender clients update ${publicKey.name} --attributes ${wanted}\`.`,
  );
}

/** Returns what a filter may read with a public key; undefined if the call has none. */
export function readableWith(publicKey: PublicKey | undefined): Readable | undefined {
  return publicKey && { key: publicKey.name, attributes: publicKey.pages.attributes };
}

/** Returns the project of the deployment that a public key is bound to. Throws if the call addresses another one. */
export async function projectOfKey(
  {
    serving,
    addressedStack,
    addressedProject,
  }: Pick<Call, "serving" | "addressedStack" | "addressedProject">,
  { name, pages: { project } }: PublicKey,
): Promise<string> {
  const resolve = async (address: string) =>
    address.startsWith("stack/") ? serving.projectOf(address.slice("stack/".length)) : address;
  const addressed = addressedStack === undefined ? addressedProject : `stack/${addressedStack}`;
  const bound = await resolve(project);
  // The error must not reveal whether the other project exists.
  const isBound =
    addressed === undefined ||
    addressed === project ||
    (await resolve(addressed).catch(() => undefined)) === bound;
  if (isBound) return bound;
  throw new ServiceError(
    "FORBIDDEN",
    `The public key ${name} can only be used for ${project}. Leave out the project in the address, or create a key for ` +
      "that project with `recommender clients add`.",
  );
}
