const { runCommand } = require("./command.js");
const { installPackages, buildPackage } = require("./setup.js");

/** `npm start`: installs, builds and runs the quick start. */
runCommand(async () => {
  await installPackages();
  await buildPackage();
  const { provideEngine } = require("./engine/provide.js");
  const { updateStack, readState, stackName } = require("./local-stack.js");
  const engine = await provideEngine();
  await updateStack(engine);

  const { resources, outputs } = readState(engine);
  console.log(`Stack ${stackName}, managed by Pulumi engine ${engine.version}\n`);
  table(resources.map(({ type, urn }) => [type.split(/[:/]/).at(-1) ?? type, urn.split("::").at(-1) ?? urn]));
  console.log("\nOutputs");
  table(Object.entries(outputs).flatMap(([name, value]) => rowsOf(name, value)));
  console.log("\nTry next");
  table([
    ["npm run recommender -- open --stack local", "open the web console"],
    ["npm start", "run it again: nothing changes"],
    ["examples/quickstart/index.ts", "change it, then npm start"],
    ["npm run pulumi -- preview --diff", "show what a change would do"],
    ["npm run pulumi -- refresh --yes", "detect changes made outside"],
    ["npm run pulumi -- stack output --show-secrets", "show secret outputs too"],
    ["npm run pulumi -- destroy --yes", "delete what the API can delete"],
  ]);
});

/** The key that marks a secret in the stack state. */
const secretMark = "4dabf18193072939515e22adb298388d";

/**
 * Returns the table rows of an output. Lists and objects get one row for each member.
 * @param {string} name
 * @param {unknown} value
 * @returns {string[][]}
 */
function rowsOf(name, value) {
  if (typeof value === "number") return [[name, String(Math.round(value * 1000) / 1000)]];
  if (typeof value !== "object" || value === null) return [[name, String(value)]];
  if (secretMark in value) return [[name, "[secret]"]];
  if (Array.isArray(value)) return value.map((member, index) => [index === 0 ? name : "", String(member)]);
  return Object.entries(value).flatMap(([key, member]) => rowsOf(`${name}.${key}`, member));
}

/** Prints two columns, at most 80 characters wide. @param {string[][]} rows */
function table(rows) {
  const width = Math.max(...rows.map(([left = ""]) => left.length));
  for (const [left = "", right = ""] of rows) {
    const space = 80 - 2 - width - 2;
    console.log(`  ${left.padEnd(width)}  ${right.length > space ? `${right.slice(0, space - 1)}…` : right}`);
  }
}
