import { closestMatch, truncate } from "../contract/messages";
import type { Cost, Estimate } from "./cost";
import { functions, type ListTest, macros, methods, type Operation } from "./functions";
import { BOOL, kindsText, NULL } from "./kinds";
import { requireBool } from "./operators";
import { ExpressionError, type Node } from "./parse";
import { type Part, partOf, type Scope } from "./part";
import { listOf } from "./values";

/** The parts of the compiler that calls need. */
export interface Methods {
  part(node: Node): Part;
  /** Runs some work while a variable is defined. */
  within<T>(name: string, work: () => T): T;
  /** Number of defined variables. */
  readonly depth: number;
}

/** Compiles a call of a function, a method, or a test of the values of a list. */
export function callOf(
  compiler: Methods,
  { start: at }: Node,
  name: string,
  receiver: Node | undefined,
  args: readonly Node[],
): Part {
  const macro = receiver && macros.get(name);
  if (macro) return listTest(compiler, at, { name, of: macro, list: receiver, args });
  if (!receiver && name === "has") return hasOf(compiler, at, args);
  const operation = (receiver ? methods : functions).get(name);
  if (!operation) throw unknownFunction(at, name, receiver !== undefined);
  const parts = [...(receiver ? [receiver] : []), ...args].map((one) => compiler.part(one));
  requireArguments(at, name, parts, operation);
  const { gives, work, size, apply } = operation;
  return partOf({ at, kinds: gives, parts, work, size, combine: apply });
}

function requireArguments(at: number, name: string, parts: readonly Part[], { takes }: Operation): void {
  if (parts.length !== takes.length)
    throw new ExpressionError(at, `${name} takes ${takes.length} values, but this call has ${parts.length}`);
  for (const [place, part] of parts.entries()) {
    const kinds = takes[place] as number;
    if (!(part.kinds & kinds))
      throw new ExpressionError(
        part.at,
        `${name} takes ${kindsText(kinds)}, but this is ${kindsText(part.kinds)}`,
      );
  }
}

/** Whether an attribute, or a field of one, has a value. */
function hasOf(compiler: Methods, at: number, args: readonly Node[]): Part {
  const [field] = args;
  if (args.length !== 1 || (field?.op !== "." && field?.op !== "[]"))
    throw new ExpressionError(at, "has takes one attribute, as in has(item.price)");
  const combine = (value: unknown) => value !== null;
  return partOf({ at, kinds: BOOL, parts: [compiler.part(field)], combine });
}

interface ListTestCall {
  readonly name: string;
  readonly of: ListTest;
  readonly list: Node;
  readonly args: readonly Node[];
}

function listTest(compiler: Methods, at: number, { name, of, list, args }: ListTestCall): Part {
  const [variable, condition] = args;
  if (variable?.op !== "id" || !condition || args.length !== 2)
    throw new ExpressionError(
      at,
      `${name} takes a name and a condition, as in item.tags.${name}(tag, tag == "new")`,
    );
  const values = compiler.part(list);
  if (values.kinds === NULL) throw new ExpressionError(values.at, `${name} takes a list, but this is null`);
  const place = compiler.depth;
  const test = compiler.within(variable.args, () => compiler.part(condition));
  requireBool(test, `the condition of ${name}`);
  const evaluate = (scope: Scope) => {
    const { variables } = scope;
    return of(listOf(values.evaluate(scope)), (value) => {
      variables[place] = value;
      return test.evaluate(scope) === true;
    });
  };
  const cost = (estimate: Estimate): Cost => {
    const { time, size } = estimate.of(values);
    const own = 2 + size * (estimate.ofTest(test, place, size).time + 1);
    return { own, time: time + own, size: 1 };
  };
  const part = partOf({ at, kinds: BOOL, parts: [values, test], evaluate });
  // The variable of this test is only defined inside the test.
  return { ...part, cost, readsVariable: place > 0 };
}

function unknownFunction(at: number, name: string, isMethod: boolean): ExpressionError {
  const known = isMethod ? [...methods.keys(), ...macros.keys()] : [...functions.keys(), "has"];
  const meant = closestMatch(name, known);
  const what = isMethod ? "method" : "function";
  return new ExpressionError(
    at,
    `there is no ${what} ${truncate(name)}${meant ? `; did you mean ${meant}?` : `. Known: ${known.join(", ")}`}`,
  );
}
