import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { issueText, pathText } from "../../contract/messages";
import { policySchema } from "./schema";

/** Name of the file with a project's policy, next to Pulumi.yaml. */
export const policyFile = "recommender.yaml";

/** Settings in `recommender.yaml`. */
export type PolicySettings = z.output<typeof policySchema>;

/** The policy of a project. */
export interface Policy extends PolicySettings {
  /** Returns the line of a field, such as `["drift", "accept", 0]`. */
  lineOf(path: readonly PropertyKey[]): number;
}

/**
 * Reads the policy of a project. Without the file, the policy is empty. Throws if the file exists but cannot be read
 * or has an error, because half of a policy could allow what the other half forbids.
 */
export function readPolicy(cwd: string): Policy {
  const path = join(resolve(cwd), policyFile);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return parsePolicy("", policyFile);
    throw new Error(`Cannot read ${shown(path)}: ${message}`, { cause: error });
  }
  return parsePolicy(text, shown(path));
}

/** Parses a policy. Errors name `file`, the line and the field. */
export function parsePolicy(text: string, file: string): Policy {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const lineAt = (offset: number) => counter.linePos(offset).line;
  if (document.errors.length > 0) {
    const lines = document.errors.map(({ pos, message }) => `${file}:${lineAt(pos[0])}: ${message}`);
    throw new Error(`${lines.join("\n")}\nFix the YAML syntax, then run the command again.`);
  }
  const lineOf = (keys: readonly PropertyKey[]) => lineAt(offsetOf(document, keys));
  const read = policySchema.safeParse(document.toJS() ?? {}, { reportInput: true });
  if (read.success) return { ...read.data, lineOf };
  const lines = read.error.issues.flatMap((issue) => {
    const keys = issue.code === "unrecognized_keys" ? issue.keys : [undefined];
    return keys.map((key) => {
      const field = key === undefined ? issue.path : [...issue.path, key];
      const one = key === undefined ? issue : { ...issue, keys: [key] };
      const path = pathText(issue.path);
      return `${file}:${lineOf(field)}: ${path && `${path}: `}${issueText(one as typeof issue, policySchema)}`;
    });
  });
  throw new Error(lines.join("\n"));
}

/** Returns the position of the deepest part of a path that the document contains. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const parent = document.getIn(path.slice(0, length - 1), true);
    const key = path[length - 1];
    const pair = isMap(parent)
      ? parent.items.find((item) => isScalar(item.key) && item.key.value === key)
      : undefined;
    // The key is more helpful than its value, which may start on a later line.
    const node = pair ? pair.key : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return isNode(document.contents) && document.contents.range ? document.contents.range[0] : 0;
}

function shown(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.length < path.length ? fromHere : path;
}
