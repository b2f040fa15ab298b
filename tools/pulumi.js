const { runCommand } = require("./command.js");
const { installPackages, buildPackage } = require("./setup.js");

/** `npm run pulumi -- <arguments>`: runs the engine on the stack of `npm start`. */
runCommand(async () => {
  await installPackages();
  await buildPackage();
  const { provideEngine } = require("./engine/provide.js");
  const { pulumi } = require("./local-stack.js");
  await pulumi(await provideEngine(), process.argv.slice(2));
});
