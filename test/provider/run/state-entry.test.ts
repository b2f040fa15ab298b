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
  const definitions = join("run", "state-entry.ts");
  const used = new Set(files.filter((file) => file !== definitions).flatMap(namesIn));
  expect([...new Set(namesIn(definitions))].sort()).toEqual([...used].sort());
});

const urn = "urn:pulumi:dev::my shop::recommender:index:EventDataset::clicks of\n12345678 urn:pulumi:x";

test("a packed token and URN are unpacked unchanged, with any name", () => {
  const stored = packUrn("12345678", urn);
  expect(Object.keys(stored)).toEqual(["__made"]);
  expect(unpackUrn({ ...stored, numShards: 1 })).toEqual({ __made: "12345678", __urn: urn, numShards: 1 });
  expect(stateEntryOf("EventDataset", "id", stored)).toMatchObject({ made: "12345678", urn });
});

test("the URN of the engine takes precedence over the URN in the state", () => {
  expect(unpackUrn({ ...packUrn("12345678", urn), __urn: "urn:now" })).toMatchObject({ __urn: "urn:now" });
});

test("a value that is no token is stored separately from the URN", () => {
  expect(packUrn(urn, urn)).toEqual({ __made: urn, __urn: urn });
  expect(packUrn(undefined, urn)).toEqual({ __urn: urn });
  expect(packUrn("12345678", undefined)).toEqual({ __made: "12345678" });
  for (const __made of ["12345678", urn, "12345678  urn:x", "x urn:y"])
    expect(unpackUrn({ __made })).toEqual({ __made });
});
