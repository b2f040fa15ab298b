const path = require("node:path");
const { run, runCommand } = require("./command.js");
const { buildPackage, installPackages, root } = require("./setup.js");

/**
 * `npm run test:spark`: trains on a local Apache Spark cluster. Takes minutes, and downloads 600 MB once.
 * `-- --larger` trains on 5 million events.
 */
runCommand(async () => {
  await installPackages();
  await buildPackage();
  const file = process.argv.includes("--larger") ? "larger.ts" : "test.ts";
  await run(process.execPath, [require.resolve("tsx/cli"), path.join(root, "tools/spark", file)], {
    cwd: root,
  });
});
