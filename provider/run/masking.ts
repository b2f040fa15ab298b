import { AsyncLocalStorage } from "node:async_hooks";
import type { Properties } from "./state-entry";

/** Secrets of a resource. */
interface Secrets {
  /** Secret arguments and settings by name. */
  readonly values: readonly Properties[];
  mask(message: string): string;
}

/** Secrets of the resource whose lifecycle is running. */
export const currentSecrets = new AsyncLocalStorage<Secrets>();

/** Returns a message with the secrets of the current resource masked. */
export function masked(message: string): string {
  return currentSecrets.getStore()?.mask(message) ?? message;
}
