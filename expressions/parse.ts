// expressions/ is the language of filters and rules: it parses an expression, checks its types, and compiles it.

import type { ASTNode, ParseError } from "@marcbachmann/cel-js" with { "resolution-mode": "import" };
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

/** Maximum nesting of an expression. */
export const maxDepth = 32;

/** Maximum size of an expression. Evaluation and messages recurse into its parts. */
const size = {
  maxAstNodes: 2500,
  maxDepth,
  maxListElements: limits.listedItems,
  maxMapEntries: 10,
  maxCallArguments: 4,
};

const depthText = `is nested more than ${maxDepth} levels deep`;

/** Returns the error for an expression with too many levels. */
export function tooDeep(at: number): ExpressionError {
  return new ExpressionError(at, `the expression ${depthText}`);
}

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
    try {
      return environment.parse(text).ast;
    } catch (error) {
      throw asExpressionError(error as ParseError, text);
    }
  };
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
