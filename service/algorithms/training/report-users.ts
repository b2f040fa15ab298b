import type { Interactions } from "../interactions";
import { createRandom, sample } from "../random";

/** Users whose held-out pairs are used only for the report, never to choose parameters. */
export interface ReportUsers {
  /** For each user, 1 if the report is measured on the user, else 0. */
  readonly isReporting: Uint8Array;
  /** Share of these users' pairs that is held out. */
  readonly share: number;
}

/**
 * Share of the users that the report is measured on. A smaller share would make the report uncertain, a larger one the
 * choice of parameters.
 */
const PART = 0.5;
/** Seed that no other sample uses. With the same seed, other samples of users would depend on this one. */
const SEED = 20_261_117;

/** Share of each user's items to hold out. It is larger if users have few items, because a tenth would be too few. */
const SHARE = 0.1;
const SHARE_OF_FEW = 0.2;
const FEW_ITEMS = 50;

/** Returns the share of each user's items to hold out. */
export function heldOutShare(pairs: number, users: number): number {
  return isSparse(pairs, users) ? SHARE_OF_FEW : SHARE;
}

/** Returns whether users have few items on average. */
export function isSparse(pairs: number, users: number): boolean {
  return pairs / users < FEW_ITEMS;
}

/**
 * Draws the users for the report, at least one if any user has a pair to hold out. If there is only one such user, no
 * user is left to choose parameters on, and the training uses the defaults.
 */
export function reportUsersOf(of: Interactions): ReportUsers {
  const able = Uint32Array.from({ length: of.users }, (_, user) => user).filter(
    (user) => of.start[user + 1] - of.start[user] >= 2,
  );
  const isReporting = new Uint8Array(of.users);
  const count = Math.max(1, Math.floor(able.length * PART));
  for (const at of sample(createRandom(SEED), able.length, count)) isReporting[able[at]] = 1;
  return { isReporting, share: heldOutShare(of.index.length, of.users) };
}
