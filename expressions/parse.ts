// expressions/ is the language of filters and rules: it parses an expression, checks its types, and compiles it.

import type { ASTNode, Environment, ParseError } from "@marcbachmann/cel-js" with {
  "resolution-mode": "import",
};
import { limits } from "../contract/limits";

/** A part of a parsed expression. */
export type Node = ASTNode;

/** An expression is invalid. The message says where and why. */
export class ExpressionError extends Error {
  /** @param at offset of the first wrong character */
  constructor(
    readonly at: number,
    reason: string,
  ) {
    super(`at character ${at + 1}: ${reason}`);
    this.name = "ExpressionError";
  }
}

/** Maximum size of an expression. Evaluation and messages recurse into its parts. */
const size = {
  maxAstNodes: 2500,
  maxDepth: 32,
  maxListElements: limits.listedItems,
  maxMapEntries: 10,
  maxCallArguments: 4,
};

const depthText = `is nested more than ${size.maxDepth} levels deep`;

const sizeTexts: readonly (readonly [key: keyof typeof size, text: string])[] = [
  ["maxAstNodes", `has more than ${size.maxAstNodes} parts`],
  ["maxDepth", depthText],
  ["maxListElements", `has a list of more than ${size.maxListElements} values`],
  ["maxMapEntries", `has a map of more than ${size.maxMapEntries} entries`],
  ["maxCallArguments", `has a call with more than ${size.maxCallArguments} arguments`],
];

type Parse = (text: string) => Node;

let parser: Promise<Parse> | undefined;

/** Parses an expression in the Common Expression Language. Throws an ExpressionError. */
export async function parse(text: string): Promise<Node> {
  return (await loadParser())(text);
}

/** Returns a function that parses. It is loaded with the first filter, because most services never use one. */
export function loadParser(): Promise<Parse> {
  parser ??= load();
  return parser;
}

async function load(): Promise<Parse> {
  const { Environment } = await import("@marcbachmann/cel-js");
  const environment = new Environment({ unlistedVariablesAreDyn: true, limits: size });
  return (text) => {
    const node = parsed(environment, text);
    requireFewSigns(node);
    return node;
  };
}

function parsed(environment: Pick<Environment, "parse">, text: string): Node {
  try {
    return environment.parse(text).ast;
  } catch (error) {
    throw asExpressionError(error as ParseError, text);
  }
}

/** Whether a value is a part of an expression, and not a name or a constant. */
export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "op" in value && "args" in value;
}

/** Limits how many ! and - are around a part, because the parser counts only brackets as levels. */
function requireFewSigns(part: unknown, signs = 0): void {
  if (Array.isArray(part)) for (const one of part) requireFewSigns(one, signs);
  if (!isNode(part)) return;
  const isSign = part.op === "!_" || part.op === "-_";
  if (isSign && signs === size.maxDepth) throw new ExpressionError(part.start, `the expression ${depthText}`);
  requireFewSigns(part.args, isSign ? signs + 1 : signs);
}

function asExpressionError({ code, summary, range, message }: ParseError, text: string): ExpressionError {
  const at = range?.start ?? 0;
  const exceeded = code === "limit_exceeded" && sizeTexts.find(([key]) => summary.includes(key));
  if (exceeded) return new ExpressionError(at, `the expression ${exceeded[1]}`);
  if (at >= text.length) return new ExpressionError(at, "the expression ends too early");
  return new ExpressionError(
    at,
    (summary ?? message).replace(/^./, (letter) => letter.toLowerCase()),
  );
}
