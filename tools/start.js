const { runCommand } = require("./command.js");
const { installPackages, buildPackage } = require("./setup.js");

/** `npm start`: from a fresh clone to the running quick start. */
runCommand(async () => {
  await installPackages();
  await buildPackage();
  const { provideEngine } = require("./engine/provide.js");
  const { bringUp, readState, stackName } = require("./local-stack.js");
  const engine = await provideEngine();
  await bringUp(engine);

  const { resources, outputs } = readState(engine);
  console.log(`Stack ${stackName}, kept by Pulumi engine ${engine.version}\n`);
  table(resources.map(({ type, urn }) => [type.split(/[:/]/).at(-1) ?? type, urn.split("::").at(-1) ?? urn]));
  console.log("\nOutputs");
  table(Object.entries(outputs).flatMap(([name, value]) => rowsOf(name, value)));
  console.log("\nTry next");
  table([
    ["npm run recommender -- open --stack local", "look at it in the browser"],
    ["npm start", "again: nothing changes"],
    ["examples/quickstart/index.ts", "change it, then npm start"],
    ["npm run pulumi -- preview --diff", "what a change would do"],
    ["npm run pulumi -- refresh --yes", "what changed outside"],
    ["npm run pulumi -- stack output --show-secrets", "also what is secret"],
    ["npm run pulumi -- destroy --yes", "delete what the API can delete"],
  ]);
});

/** The engine's mark of a secret in a state. */
const secretMark = "4dabf18193072939515e22adb298388d";

/**
 * A list has a row for each of its members, and so has an object.
 * @param {string} name
 * @param {unknown} value
 * @returns {string[][]}
 */
function rowsOf(name, value) {
  if (typeof value === "number") return [[name, String(Math.round(value * 1000) / 1000)]];
  if (typeof value !== "object" || value === null) return [[name, String(value)]];
  if (secretMark in value) return [[name, "[secret]"]];
  if (Array.isArray(value)) return value.map((member, at) => [at === 0 ? name : "", String(member)]);
  return Object.entries(value).flatMap(([key, member]) => rowsOf(`${name}.${key}`, member));
}

/** Two columns within 80. @param {string[][]} rows */
function table(rows) {
  const width = Math.max(...rows.map(([left = ""]) => left.length));
  for (const [left = "", right = ""] of rows) {
    const room = 80 - 2 - width - 2;
    console.log(`  ${left.padEnd(width)}  ${right.length > room ? `${right.slice(0, room - 1)}…` : right}`);
  }
}
