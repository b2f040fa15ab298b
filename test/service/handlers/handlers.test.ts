import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { routes } from "../../../contract";
import { handlers } from "../../../service/handlers";

const directory = join(__dirname, "..");
const tests = readdirSync(directory, { encoding: "utf8", recursive: true })
  .filter((name) => name.endsWith(".ts") && !name.endsWith("handlers.test.ts"))
  .map((name) => readFileSync(join(directory, name), "utf8"))
  .join("\n");

test("exactly the operations of the contract have handlers", () => {
  expect(Object.keys(handlers).sort()).toEqual(Object.keys(routes).sort());
});

test.each(Object.keys(routes))("%s is called by a test", (name) => {
  expect(tests).toContain(`"${name}"`);
});
