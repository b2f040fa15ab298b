import fc from "fast-check";
import { wireSchema } from "../../contract";
import { type RecordKindName, recordKinds } from "../../records/kind";
import { plainCheck } from "../../records/mapping/plain";

const awkward = fc.oneof(
  fc.constantFrom("", "a", "a\0b", "ü", 0, -1, 1.5, 2 ** 53, 2 ** 60, true, null, {}, [], { a: [1] }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.jsonValue(),
);
const usual = {
  text: fc.string({ minLength: 1 }),
  ts: fc.nat(),
  value: fc.double({ noNaN: true, min: -1e12, max: 1e12 }),
  attributes: fc.dictionary(fc.string(), fc.jsonValue()),
};
/** Mostly valid values, and sometimes arbitrary ones. */
const field = (good: fc.Arbitrary<unknown>) => fc.oneof({ weight: 9, arbitrary: good }, awkward);
const records: Record<RecordKindName, fc.Arbitrary<Record<string, unknown>>> = {
  users: fc.record({ user_id: field(usual.text), attributes: field(usual.attributes) }, { requiredKeys: [] }),
  items: fc.record({ item_id: field(usual.text), attributes: field(usual.attributes) }, { requiredKeys: [] }),
  events: fc.record(
    {
      event_id: field(usual.text),
      user_id: field(usual.text),
      item_id: field(usual.text),
      ts: field(usual.ts),
      event_type: field(usual.text),
      event_value: field(usual.value),
      attributes: field(usual.attributes),
    },
    { requiredKeys: ["event_id", "user_id", "item_id", "ts", "event_type", "event_value"] },
  ),
};

test.each(["users", "items", "events"] as const)(
  "the contract accepts every plain record of %s without changes",
  (name) => {
    const kind = recordKinds[name];
    const isPlain = plainCheck(kind);
    let plain = 0;
    fc.assert(
      fc.property(records[name], (record) => {
        if (!isPlain(record)) return;
        plain++;
        expect(wireSchema(kind.record).parse(record)).toEqual(record);
      }),
      { numRuns: 2000 },
    );
    // Without any plain record, the test would prove nothing.
    expect(plain).toBeGreaterThan(200);
  },
);
