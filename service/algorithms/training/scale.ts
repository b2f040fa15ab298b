import { type Interactions, itemCounts } from "../interactions";
import { ridgeOf } from "./ials";

const POWER_ITERATIONS = 12;

/** Number of users and items with entries, and the sum of all weights. */
export interface Mass {
  readonly users: number;
  readonly items: number;
  readonly weight: number;
}

/** Counts the users and items with entries, and sums the weights. */
export function massOf(of: Interactions): Mass {
  let users = 0;
  for (let user = 0; user < of.users; user++) if (of.start[user] !== of.start[user + 1]) users++;
  const items = itemCounts(of).reduce((some, count) => (count > 0 ? some + 1 : some), 0);
  return { users, items, weight: of.weight.reduce((sum, weight) => sum + weight, 0) };
}

/** Scales that convert a `Point` to parameters for the given data. Each scale is computed once. */
export class Scales {
  readonly mass: Mass;
  private readonly vanishing = new Map<string, number>();

  constructor(private readonly data: Interactions) {
    this.mass = massOf(data);
  }

  /** Returns the smallest regularization at which all vectors become zero. */
  vanishingRegularization(alpha: number, regularizationExponent: number): number {
    const key = `${alpha} ${regularizationExponent}`;
    const found =
      this.vanishing.get(key) ??
      vanishingRegularization(this.data, this.mass, { alpha, regularizationExponent });
    this.vanishing.set(key, found);
    return found;
  }
}

/**
 * Returns the alpha at which all unobserved pairs together weigh `balance` times as much as the observed pairs. Good
 * values of `balance` are similar for datasets of very different density; good values of alpha are not.
 */
export function alphaOf(balance: number, mass: Mass): number {
  return (balance * mass.weight) / (mass.users * mass.items);
}

/**
 * Returns the largest singular value of the data matrix, with rows and columns scaled by their regularization. Uses
 * power iteration.
 */
function vanishingRegularization(
  of: Interactions,
  mass: Mass,
  given: { readonly alpha: number; readonly regularizationExponent: number },
): number {
  const unit = { regularization: 1, ...given };
  const userScale = new Float64Array(of.users);
  const itemScale = new Float64Array(of.items);
  for (let user = 0; user < of.users; user++) {
    for (let at = of.start[user]; at < of.start[user + 1]; at++) {
      const [item, weight] = [of.index[at], of.weight[at]];
      userScale[user] += weight;
      itemScale[item] += weight;
    }
  }
  userScale.forEach((total, user) => {
    userScale[user] = 1 / Math.sqrt(ridgeOf(unit, total, mass.items));
  });
  itemScale.forEach((total, item) => {
    itemScale[item] = 1 / Math.sqrt(ridgeOf(unit, total, mass.users));
  });
  let direction = new Float64Array(of.items).fill(1 / Math.sqrt(of.items));
  let norm = 0;
  for (let iteration = 0; iteration < POWER_ITERATIONS; iteration++) {
    const scaled = direction.map((value, item) => value * itemScale[item]);
    const next = new Float64Array(of.items);
    for (let user = 0; user < of.users; user++) {
      const [from, to] = [of.start[user], of.start[user + 1]];
      let projected = 0;
      for (let at = from; at < to; at++) projected += of.weight[at] * scaled[of.index[at]];
      projected *= userScale[user] ** 2;
      for (let at = from; at < to; at++) {
        const item = of.index[at];
        next[item] += of.weight[at] * projected;
      }
    }
    next.forEach((value, item) => {
      next[item] = value * itemScale[item];
    });
    norm = Math.sqrt(next.reduce((sum, value) => sum + value * value, 0));
    direction = next.map((value) => value / norm);
  }
  return Math.sqrt(norm);
}
