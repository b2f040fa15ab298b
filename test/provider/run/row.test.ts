import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

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
