import type { Interactions } from "../interactions";
import { type FactorParameters, ridgeOf } from "./ials";

/** Users and items with at least one entry, and the sum of all weights. */
export interface Mass {
  readonly users: number;
  readonly items: number;
  readonly weight: number;
}

/** Measures the mass of interactions. */
export function massOf(of: Interactions): Mass {
  let users = 0;
  for (let user = 0; user < of.users; user++) if (of.start[user] !== of.start[user + 1]) users++;
  return { users, items: new Set(of.index).size, weight: of.weight.reduce((sum, weight) => sum + weight, 0) };
}

/**
 * The alpha at which all unobserved pairs together weigh `balance` times the observed ones. Good balances are alike
 * over data sets of very different density, good alphas are not.
 */
export function alphaOf(balance: number, mass: Mass): number {
  return (balance * mass.weight) / (mass.users * mass.items);
}

/**
 * The regularisation from which on all vectors vanish: the largest singular value of the interactions scaled by the
 * regularisation of rows and columns, found by power iteration.
 */
export function vanishingRegularization(
  of: Interactions,
  alpha: number,
  regularizationExponent: number,
): number {
  const mass = massOf(of);
  const unit: FactorParameters = { dimensions: 1, regularization: 1, alpha, regularizationExponent };
  const userScale = new Float64Array(of.users);
  const itemScale = new Float64Array(of.items);
  eachEntry(of, (user, item, weight) => {
    userScale[user] = (userScale[user] as number) + weight;
    itemScale[item] = (itemScale[item] as number) + weight;
  });
  userScale.forEach((total, user) => {
    userScale[user] = 1 / Math.sqrt(ridgeOf(unit, total, mass.items));
  });
  itemScale.forEach((total, item) => {
    itemScale[item] = 1 / Math.sqrt(ridgeOf(unit, total, mass.users));
  });
  let direction = new Float64Array(of.items).fill(1 / Math.sqrt(of.items));
  let norm = 0;
  for (let round = 0; round < 12; round++) {
    const projected = new Float64Array(of.users);
    eachEntry(of, (user, item, weight) => {
      projected[user] =
        (projected[user] as number) + weight * (direction[item] as number) * (itemScale[item] as number);
    });
    const next = new Float64Array(of.items);
    eachEntry(of, (user, item, weight) => {
      const scaled = (projected[user] as number) * (userScale[user] as number) ** 2;
      next[item] = (next[item] as number) + weight * scaled * (itemScale[item] as number);
    });
    norm = Math.sqrt(next.reduce((sum, value) => sum + value * value, 0));
    direction = next.map((value) => value / norm);
  }
  return Math.sqrt(norm);
}

function eachEntry(of: Interactions, visit: (user: number, item: number, weight: number) => void): void {
  for (let user = 0; user < of.users; user++) {
    for (let at = of.start[user] as number; at < (of.start[user + 1] as number); at++) {
      visit(user, of.index[at] as number, of.weight[at] as number);
    }
  }
}
