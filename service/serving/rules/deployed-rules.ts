// rules/ applies the rules of a deployment: a filter and factors before items are ranked, pins and limits after that.

import { type AppliedRule, expressionsIn, type Rules } from "../../../contract";
import { ExpressionError } from "../../../expressions/parse";
import { contains, type Weight } from "../../algorithms";
import { JobError } from "../../base/job-error";
import type { FilteredFor, ItemFilters } from "../filters/item-filters";
import type { Arrangement, GroupLimit, Pinned } from "./arrange";

/** What the rules of a deployment allow and prefer for a person. */
export interface Standing {
  /** The only items to recommend, ascending; undefined for all. */
  readonly among?: Uint32Array | undefined;
  readonly weights: readonly Weight[];
  /** Differs if the items differ. */
  readonly stamp: string;
}

/** Numbers of lists of items. A list that is computed again has another number. */
const numbers = new WeakMap<Uint32Array, number>();
let last = 0;

function numberOf(items: Uint32Array): number {
  const number = numbers.get(items) ?? ++last;
  numbers.set(items, number);
  return number;
}

/** The rules of one deployment. Their expressions read the current records. */
export class DeployedRules {
  private readonly factors: readonly { readonly when: string; readonly factor: number }[];

  constructor(
    private readonly rules: Rules,
    private readonly filters: ItemFilters,
    private readonly find: (itemId: string) => number | undefined,
  ) {
    this.factors = [...(rules.boost ?? []), ...(rules.bury ?? [])];
  }

  /** Reads the attributes that the rules use, so the first call does not have to wait for that. */
  async prepare(): Promise<void> {
    const of = { attributes: async () => undefined };
    await this.standingFor(of);
    await this.arrangementFor(of, () => true);
  }

  /** Throws if an expression reads unknown attributes, or if its types do not match. */
  async check(): Promise<void> {
    for (const { path, text } of expressionsIn(this.rules))
      await this.filters.check(text).catch((error) => {
        throw error instanceof ExpressionError ? invalid(path, error.message) : error;
      });
    for (const [at, { attribute }] of (this.rules.limitPer ?? []).entries()) {
      const reason = await this.filters.attributeError(attribute);
      if (reason !== undefined) throw invalid(`limitPer[${at}].attribute`, reason);
    }
  }

  /** Finds the items that the rules allow and prefer; undefined if they neither filter nor weigh items. */
  async standingFor(by: FilteredFor): Promise<Standing | undefined> {
    const { filter } = this.rules;
    if (filter === undefined && this.factors.length === 0) return undefined;
    const among = filter === undefined ? undefined : await this.filters.matchingRule(filter, by);
    const weights: Weight[] = [];
    for (const { when, factor } of this.factors)
      weights.push({ items: await this.filters.matchingRule(when, by), factor });
    const stamp = [among, ...weights.map(({ items }) => items)].map((items) => items && numberOf(items));
    return { among, weights, stamp: stamp.join() };
  }

  /**
   * Finds the pins and limits; undefined if there are none.
   * @param isAllowed whether an item may be recommended at all
   */
  async arrangementFor(
    by: FilteredFor,
    isAllowed: (item: number) => boolean,
  ): Promise<Arrangement | undefined> {
    const { pin = [], limitPer = [] } = this.rules;
    const pins: Pinned[] = [];
    for (const { itemId, position, when } of pin) {
      const item = this.find(itemId);
      if (item === undefined || !isAllowed(item)) continue;
      if (when === undefined || (await this.filters.holds(when, item, by))) pins.push({ item, position });
    }
    const limits: GroupLimit[] = [];
    for (const { attribute, max } of limitPer)
      limits.push({ max, valuesOf: await this.filters.valuesOf(attribute) });
    return pins.length > 0 || limits.length > 0 ? { pins, limits } : undefined;
  }
}

function invalid(path: string, reason: string): JobError {
  return new JobError(
    `The rule ${path} is invalid: ${reason.replace(/[?.]?$/, (end) => end || ".")} Deploy again with other rules.`,
  );
}

/** Describes the factors that were applied to the score of an item. */
export function factorEffects(item: number, standing: Standing | undefined): AppliedRule[] {
  const own = (standing?.weights ?? []).filter(({ items }) => contains(items, item));
  return own.map(({ factor }) => ({ effect: factor > 1 ? "boosted" : "buried", factor }));
}
