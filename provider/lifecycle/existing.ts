import { isOutage } from "../../client/errors";
import { isUnreachable } from "../../client/unreachable";
import { shortened } from "../../contract/words";
import type { Context } from "../run/context";
import { log } from "../run/engine";
import type { Properties, StackRow } from "../run/row";
import type { Noun } from "./noun";

/** The reason why the object of `existingId` cannot be adopted, as far as the service reports it. */
export async function refusalToAdopt<Args extends object, Outputs extends object>(
  noun: Noun<Args, Outputs>,
  inputs: Properties,
  open: () => Promise<Context>,
): Promise<string | undefined> {
  const { existingId } = inputs as { existingId?: string };
  if (existingId === undefined || !noun.adoptable) return undefined;
  const context = await open();
  try {
    await noun.adoptable(existingId, inputs as Args, context);
  } catch (error) {
    const { message } = error as Error;
    if (isUnreachable(error)) throw error;
    if (!isOutage(error)) return message;
    await log.warn(context.urn, `could not check existingId ${shortened(existingId)}: ${message}`);
  }
  return undefined;
}

/** Warns that an object is adopted unseen. */
export async function warnOfUnread(id: string, { urn, title }: Context): Promise<void> {
  await log.warn(urn, `${title}: ${shortened(id)} is adopted without verification: the API cannot read it.`);
}

/** Reports that an object stays because another row of the stack holds it. */
export async function stays({ urn }: StackRow, id: string, context: Context): Promise<void> {
  const by = urn === context.urn ? "its replacement" : urn;
  await log.info(context.urn, `keeping ${shortened(id)}: ${by} uses it`);
}

/** Reports that an object stays because the API cannot delete it. */
export async function orphan(id: string, _state: object, { urn, title }: Context): Promise<void> {
  await log.warn(urn, `${title} (${shortened(id)}) is orphaned: the API cannot delete it.`);
}
