import { ruleDiff, ruleLines } from "../../../cli/release/rules-text";

const rules = {
  filter: "item.price > 1\n && item.stock",
  boost: [{ when: "item.new", factor: 1.5 }],
  bury: [{ when: "item.old", factor: 0.5 }],
  pin: [
    { itemId: "i1", position: 2, when: "user.vip" },
    { itemId: "i2", position: 3 },
  ],
  limitPer: [{ attribute: "brand", max: 2 }],
};

test("rules are described with one line each", () => {
  expect(ruleLines(rules)).toEqual([
    "filter: item.price > 1 && item.stock",
    "boost × 1.5: item.new",
    "bury × 0.5: item.old",
    "pin i1 at 2: user.vip",
    "pin i2 at 3",
    "at most 2 per brand",
  ]);
  expect([ruleLines(undefined), ruleLines(null), ruleLines({})]).toEqual([[], [], []]);
  expect(ruleLines({ newer: 1 })).toEqual(['{"newer":1}']);
});

test("a diff shows rules that were removed, added, or put into another order", () => {
  expect(ruleDiff(rules, rules)).toEqual([]);
  expect(ruleDiff(undefined, { filter: "true" })).toEqual(["+ filter: true"]);
  expect(ruleDiff(rules, { ...rules, boost: [{ when: "item.new", factor: 2 }] })).toEqual([
    "- boost × 1.5: item.new",
    "+ boost × 2: item.new",
  ]);
  const [a, b] = [
    { itemId: "a", position: 1 },
    { itemId: "b", position: 1 },
  ];
  expect(ruleDiff({ pin: [a, b] }, { pin: [b, a] })).toEqual([
    "- pin a at 1",
    "- pin b at 1",
    "+ pin b at 1",
    "+ pin a at 1",
  ]);
});
