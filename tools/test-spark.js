const path = require("node:path");
const { run, runCommand } = require("./command.js");
const { buildPackage, installPackages, root } = require("./setup.js");

/**
 * `npm run test:spark`: trains on a cluster of Apache Spark on this machine; some minutes, and 600 MB to download once.
 * With `-- --larger` on 5 million events.
 */
runCommand(async () => {
  await installPackages();
  await buildPackage();
  const file = process.argv.includes("--larger") ? "larger.ts" : "test.ts";
  await run(process.execPath, [require.resolve("tsx/cli"), path.join(root, "tools/spark", file)], {
    cwd: root,
  });
});
