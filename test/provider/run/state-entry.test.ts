import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packUrn, stateEntryOf, unpackUrn } from "../../../provider/run/state-entry";

const provider = join(__dirname, "..", "..", "..", "provider");

test("every hidden property that the provider uses is defined in one file, and each that is defined there is used", () => {
  const files = readdirSync(provider, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const namesIn = (file: string) =>
    readFileSync(join(provider, file), "utf8").match(/\b__(?!dirname|filename|proto__|internal)[a-z]\w*/gi) ??
    [];
  const row = join("run", "row.ts");
  const used = new Set(files.filter((file) => file !== row).flatMap(namesIn));
  expect([...new Set(namesIn(row))].sort()).toEqual([...used].sort());
});

const urn = "urn:pulumi:dev::my shop::recommender:index:EventDataset::clicks of\n12345678 urn:pulumi:x";

test("a token and a URN in one property are the same two again, whatever the name is", () => {
  const stored = packUrn("12345678", urn);
  expect(Object.keys(stored)).toEqual(["__made"]);
  expect(unpackUrn({ ...stored, numShards: 1 })).toEqual({ __made: "12345678", __urn: urn, numShards: 1 });
  expect(stateEntryOf("EventDataset", "id", stored)).toMatchObject({ made: "12345678", urn });
});

test("the URN that the engine names now wins over that in the state", () => {
  expect(unpackUrn({ ...packUrn("12345678", urn), __urn: "urn:now" })).toMatchObject({ __urn: "urn:now" });
});

test("what is no token of this package stays beside the URN", () => {
  expect(packUrn(urn, urn)).toEqual({ __made: urn, __urn: urn });
  expect(packUrn(undefined, urn)).toEqual({ __urn: urn });
  expect(packUrn("12345678", undefined)).toEqual({ __made: "12345678" });
  for (const __made of ["12345678", urn, "12345678  urn:x", "x urn:y"])
    expect(unpackUrn({ __made })).toEqual({ __made });
});
