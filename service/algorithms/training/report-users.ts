import type { Interactions } from "../interactions";
import { createRandom, sample } from "../random";

/** Users whose held-out pairs a training keeps for its report and never uses to choose anything. */
export interface ReportUsers {
  /** Whether each user is one of them, 1 or 0. */
  readonly isReporting: Uint8Array;
  /** Share of their pairs that is held out. */
  readonly share: number;
}

/** The report gets half of the users: fewer make its figures uncertain, more make the choice so. */
const PART = 0.5;
/** Drawn with a seed that no other draw uses, or the samples of users would depend on this one. */
const SEED = 20_261_117;

/** What is held out of each user's items: more if users have so few that a tenth says little. */
const SHARE = 0.1;
const SHARE_OF_FEW = 0.2;
const FEW_ITEMS = 50;

/** The share of each user's items to hold out if the users have so many pairs. */
export function heldOutShare(pairs: number, users: number): number {
  return isSparse(pairs, users) ? SHARE_OF_FEW : SHARE;
}

/** Whether users have few items on average. */
export function isSparse(pairs: number, users: number): boolean {
  return pairs / users < FEW_ITEMS;
}

/**
 * Draws the users for the report, at least one if any user has a pair to hold out. A single such user leaves none to
 * choose parameters on: the training then keeps its defaults, and the report is still honest.
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
