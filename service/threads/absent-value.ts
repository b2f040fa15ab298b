import { attributeOf, categoriesOf } from "../algorithms";
import { shortened } from "../base/error";

type Attributes = Readonly<Record<string, unknown>>;

const named = 5;
const longest = 60;

/** What to say of an attribute value that no item has: how many items have the attribute, and which values are near. */
export function absentValue(
  items: readonly (Attributes | undefined)[],
  attribute: string,
  value: string,
): string {
  const counts = new Map<string, number>();
  let having = 0;
  for (const item of items) {
    const values = categoriesOf(attributeOf(item, attribute));
    if (values.length > 0) having++;
    for (const one of values) counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  const head = `No item has ${shortened(attribute, longest)} = ${shortened(value, longest)}`;
  if (having === 0) {
    const names = [...new Set(items.flatMap((item) => Object.keys(item ?? {})))].sort();
    return `${head}: none has this attribute. ${listed("Attributes of items are", nearest(attribute, names))}`;
  }
  const values = [...counts].sort(([, one], [, other]) => other - one).map(([one]) => one);
  const own = having === 1 ? "1 item has" : `${having} items have`;
  return `${head}; ${own} other values, ${listed("nearest first:", nearest(value, values))}`;
}

function listed(what: string, names: readonly string[]): string {
  if (names.length === 0) return "Items have no attributes.";
  const others = names.length - named;
  const first = names.slice(0, named).map((name) => shortened(name, longest));
  return `${what} ${first.join(", ")}${others > 0 ? ` and ${others} more` : ""}.`;
}

/** Those with the most pairs of letters in common first; the order stays where they have the same. */
function nearest(wanted: string, names: readonly string[]): string[] {
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

/** Of no more than is shown: what lies behind it tells nobody which value was meant. */
function pairsOf(text: string): string[] {
  const letters = [...` ${text.slice(0, longest).normalize("NFKD").toLowerCase()} `];
  return letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}
