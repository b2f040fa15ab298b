const path = require("node:path");
const { run, runCommand } = require("./command.js");
const { buildPackage, installPackages, root } = require("./setup.js");

/** `npm run recommender -- <arguments>`: the command line of this clone, with the engine to read the stack of `npm start`. */
runCommand(async () => {
  await installPackages();
  await buildPackage();
  const { provideEngine } = require("./engine/provide.js");
  const { engineEnvironment } = require("./local-stack.js");
  const command = [path.join(root, "dist", "cli", "main.js"), ...process.argv.slice(2)];
  await run(process.execPath, command, { cwd: root, env: engineEnvironment(await provideEngine()) });
});
