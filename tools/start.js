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
  table(Object.entries(outputs).map(([name, value]) => [name, shown(value)]));
  console.log("\nTry next");
  table([
    ["npm start", "again: nothing changes"],
    ["examples/quickstart/index.ts", "change it, then npm start"],
    ["npm run pulumi -- preview --diff", "what a change would do"],
    ["npm run pulumi -- refresh --yes", "what changed outside"],
    ["npm run pulumi -- destroy --yes", "remove all of it"],
  ]);
});

/** @param {unknown} value */
const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** Two columns within 80. @param {string[][]} rows */
function table(rows) {
  const width = Math.max(...rows.map(([left = ""]) => left.length));
  for (const [left = "", right = ""] of rows) {
    const room = 80 - 2 - width - 2;
    console.log(`  ${left.padEnd(width)}  ${right.length > room ? `${right.slice(0, room - 1)}…` : right}`);
  }
}
