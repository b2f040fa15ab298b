const { runCommand } = require("./command.js");
const { buildPackage, installPackages, removeBuilt } = require("./setup.js");

/** `npm run build [-- --clean]`: builds dist/; `--clean` deletes it first. */
runCommand(async () => {
  await installPackages();
  if (process.argv.includes("--clean")) await removeBuilt();
  await buildPackage();
});
