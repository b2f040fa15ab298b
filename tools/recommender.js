const path = require("node:path");
const { CommandFailed, run, runCommand } = require("./command.js");
const { buildPackage, installPackages, root } = require("./setup.js");

/** `npm run recommender -- <arguments>`: runs the CLI of this repository. It can read the stack of `npm start`. */
runCommand(async () => {
  await installPackages();
  await buildPackage();
  const { provideEngine } = require("./engine/provide.js");
  const { engineEnvironment } = require("./local-stack.js");
  const command = [path.join(root, "dist", "cli", "main.js"), ...process.argv.slice(2)];
  const environment = { cwd: root, env: engineEnvironment(await provideEngine()) };
  // The CLI has already printed the error.
  await run(process.execPath, command, environment).catch((error) => {
    if (!(error instanceof CommandFailed)) throw error;
    process.exitCode = error.exitCode;
  });
});
