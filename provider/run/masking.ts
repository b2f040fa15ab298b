import { AsyncLocalStorage } from "node:async_hooks";
import type { Properties } from "./state-entry";

/** Values of secret arguments by their names. */
interface Secrets {
  readonly values: readonly Properties[];
  mask(message: string): string;
}

/** The secrets of the resource that is worked for. */
export const currentSecrets = new AsyncLocalStorage<Secrets>();

/** A message without the secrets of the resource that is worked for. */
export function masked(message: string): string {
  return currentSecrets.getStore()?.mask(message) ?? message;
}
