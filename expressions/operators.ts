import { BOOL, type Kinds, kindsText, LIST, MAP, NULL, NUMBER, TEXT } from "./kinds";
import { ExpressionError } from "./parse";
import { isSame, type Part, partOf, type Scope } from "./part";
import { calculated, compared, equal, isIn, memberTest, sum } from "./values";

/** Throws unless a part can be true or false. */
export function requireBool(part: Part, what: string): void {
  if (part.kinds & BOOL) return;
  throw new ExpressionError(part.at, `${what} must be true or false, but this is ${kindsText(part.kinds)}`);
}

/** Negates a part. A missing value counts as false. */
export function not(at: number, part: Part): Part {
  requireBool(part, "the operand of !");
  return partOf({ at, kinds: BOOL, parts: [part], logic: "!", combine: (value) => value !== true });
}

/** Changes the sign of a number. */
export function negative(at: number, part: Part): Part {
  requireKinds(part, NUMBER, "the operand of -");
  const combine = (value: unknown) => (typeof value === "number" ? -value : null);
  return partOf({ at, kinds: NUMBER | NULL, parts: [part], combine });
}

/** Throws unless a part can have a value of the given kinds. */
export function requireKinds(part: Part, kinds: Kinds, what: string): void {
  if (part.kinds & kinds) return;
  throw new ExpressionError(
    part.at,
    `${what} must be ${kindsText(kinds)}, but this is ${kindsText(part.kinds)}`,
  );
}

/** Combines two parts with && or ||. Missing values count as false. */
export function logical(op: "&&" | "||", a: Part, b: Part): Part {
  for (const part of [a, b]) requireBool(part, `each side of ${op}`);
  const [combine, evaluate] =
    op === "&&"
      ? [
          (x: unknown, y: unknown) => x === true && y === true,
          (scope: Scope) => a.evaluate(scope) === true && b.evaluate(scope) === true,
        ]
      : [
          (x: unknown, y: unknown) => x === true || y === true,
          (scope: Scope) => a.evaluate(scope) === true || b.evaluate(scope) === true,
        ];
  return partOf({ at: a.at, kinds: BOOL, parts: [a, b], logic: op, combine, evaluate });
}

/** Chooses between two parts. A missing condition counts as false. */
export function conditional(condition: Part, yes: Part, no: Part): Part {
  requireBool(condition, "the condition before ?");
  const parts = [condition, yes, no];
  const combine = (is: unknown, a: unknown, b: unknown) => (is === true ? a : b);
  return partOf({
    at: condition.at,
    kinds: yes.kinds | no.kinds,
    parts,
    size: ([, a = 1, b = 1]) => Math.max(a, b),
    combine,
  });
}

const orders: Readonly<Record<string, (a: unknown, b: unknown) => boolean>> = {
  "<": compared((a, b) => a < b),
  "<=": compared((a, b) => a <= b),
  ">": compared((a, b) => a > b),
  ">=": compared((a, b) => a >= b),
};

const sums: Readonly<Record<string, (a: unknown, b: unknown) => unknown>> = {
  "+": sum,
  "-": calculated((a, b) => a - b),
  "*": calculated((a, b) => a * b),
  "/": calculated((a, b) => a / b),
  "%": calculated((a, b) => a % b),
};

/** Combines two parts with an operator other than && and ||. */
export function binary(op: string, at: number, a: Part, b: Part, memoPlace: () => number): Part {
  if (op === "in") return membership(at, a, b, memoPlace());
  const parts = [a, b];
  const common = a.kinds & b.kinds & ~NULL;
  const order = orders[op];
  if (order) {
    if (!(common & (TEXT | NUMBER))) throw mismatch(op, at, a, b, "compares two numbers or two texts");
    return partOf({ at, kinds: BOOL, parts, work: smallest, combine: order });
  }
  const calculate = sums[op];
  if (calculate) {
    const kinds = common & (op === "+" ? TEXT | NUMBER : NUMBER);
    const takes = op === "+" ? "takes two numbers or two texts" : "takes two numbers";
    if (!kinds) throw mismatch(op, at, a, b, takes);
    // Texts are only joined when they are read.
    const size = ([left = 1, right = 1]: readonly number[]) => (kinds & TEXT ? left + right : 1);
    return partOf({ at, kinds: kinds | NULL, parts, size, combine: calculate });
  }
  const isNull = a.kinds === NULL || b.kinds === NULL;
  if (!common && !isNull) throw mismatch(op, at, a, b, "compares values of the same kind");
  const combine = op === "==" ? equal : (x: unknown, y: unknown) => !equal(x, y);
  return partOf({ at, kinds: BOOL, parts, work: smallest, combine });
}

/** Work of a comparison, which reads two values until they differ. */
const smallest = (sizes: readonly number[]) => Math.min(...sizes);

function mismatch(op: string, at: number, a: Part, b: Part, takes: string): ExpressionError {
  const [left, right] = [a, b].map(({ kinds }) => kindsText(kinds));
  return new ExpressionError(
    at,
    `${op} ${takes}, but the left side is ${left} and the right side is ${right}`,
  );
}

/** Whether a value is in a list. A single value after `in` is treated as a list of one. */
function membership(at: number, a: Part, b: Part, place: number): Part {
  if ((a.kinds & ~NULL) === LIST && b.elements !== undefined)
    throw new ExpressionError(
      at,
      "the left side of in is a list; test its values, as in item.tags.exists(tag, tag in [...])",
    );
  const elements = elementKinds(b);
  if (!(elements & a.kinds))
    throw new ExpressionError(
      at,
      `no value of the list can be equal to the left side, which is ${kindsText(a.kinds)}`,
    );
  if (!isSame(b))
    return partOf({ at, kinds: BOOL, parts: [a, b], work: ([, size = 1]) => 2 + size, combine: isIn });
  const evaluate = (scope: Scope) => {
    scope.memo[place] ??= memberTest(b.evaluate(scope));
    return (scope.memo[place] as (value: unknown) => boolean)(a.evaluate(scope));
  };
  return {
    ...partOf({ at, kinds: BOOL, parts: [a], work: ([size = 1]) => 1 + size, evaluate }),
    readsUser: a.readsUser || b.readsUser,
  };
}

/** Returns the kinds that the values of a list can have. */
function elementKinds(list: Part): Kinds {
  if (list.elements !== undefined) return list.elements;
  if (list.kinds & LIST) return TEXT | NUMBER | BOOL | LIST | MAP;
  return list.kinds & MAP ? list.kinds | TEXT : list.kinds;
}
