import { attributeOf, categoriesOf } from "../algorithms";
import { shortened } from "../base/error";

type Attributes = Readonly<Record<string, unknown>>;

/** Maximum number of suggested names, and their maximum length. */
const suggestions = 5;
const longest = 60;

/** Returns the message for an attribute value that no item has, with the most similar values or attribute names. */
export function noMatchMessage(
  items: readonly (Attributes | undefined)[],
  attribute: string,
  value: string,
): string {
  const counts = new Map<string, number>();
  let withAttribute = 0;
  for (const item of items) {
    const values = categoriesOf(attributeOf(item, attribute));
    if (values.length > 0) withAttribute++;
    for (const found of values) counts.set(found, (counts.get(found) ?? 0) + 1);
  }
  const head = `No item has ${shortened(attribute, longest)} = ${shortened(value, longest)}`;
  if (withAttribute === 0) {
    const names = [...new Set(items.flatMap((item) => Object.keys(item ?? {})))].sort();
    return `${head}: none has this attribute. ${listed("Attributes of items are", mostSimilar(attribute, names))}`;
  }
  const values = [...counts].sort(([, one], [, other]) => other - one).map(([found]) => found);
  const count = withAttribute === 1 ? "1 item has" : `${withAttribute} items have`;
  return `${head}; ${count} other values, ${listed("nearest first:", mostSimilar(value, values))}`;
}

function listed(what: string, names: readonly string[]): string {
  if (names.length === 0) return "Items have no attributes.";
  const others = names.length - suggestions;
  const first = names.slice(0, suggestions).map((name) => shortened(name, longest));
  return `${what} ${first.join(", ")}${others > 0 ? ` and ${others} more` : ""}.`;
}

/** Sorts names by how many letter pairs they have in common with `wanted`, most similar first. */
function mostSimilar(wanted: string, names: readonly string[]): string[] {
  const own = new Set(pairsOf(wanted));
  const score = (name: string) => {
    const pairs = pairsOf(name);
    return (2 * pairs.filter((pair) => own.has(pair)).length) / (pairs.length + own.size);
  };
  return names
    .map((name) => [name, score(name)] as const)
    .sort(([, one], [, other]) => other - one)
    .map(([name]) => name);
}

/** Returns the letter pairs in the part of a text that messages show. */
function pairsOf(text: string): string[] {
  const letters = [...` ${text.slice(0, longest).normalize("NFKD").toLowerCase()} `];
  return letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}
