const path = require("node:path");
const { parseArgs } = require("node:util");
const { runCommand } = require("./command.js");
const { installPackages, root } = require("./setup.js");

/**
 * `npm run release [-- --only PART …] [--out DIRECTORY] [--plugin-download-url URL] [--json]`: builds a release in
 * release/. The URL is where the archives of the plugin will be published.
 */
runCommand(async () => {
  // Exit handlers delete partial output, and they do not run if a signal ends the process.
  for (const [name, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 }))
    process.once(name, () => process.exit(code));
  await installPackages();
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true },
      out: { type: "string" },
      "plugin-download-url": { type: "string" },
      json: { type: "boolean" },
    },
  });
  const { writeRelease } = require("./release/write.js");
  const release = await writeRelease({
    directory: values.out === undefined ? path.join(root, "release") : path.resolve(values.out),
    only: values.only ?? [],
    pluginDownloadURL: values["plugin-download-url"],
  });
  if (values.json) return console.log(JSON.stringify(release));
  const directory = path.relative(process.cwd(), release.directory) || ".";
  console.log(`\n${directory}${" ".repeat(Math.max(1, 67 - directory.length))}bytes`);
  for (const { file, bytes } of release.files)
    console.log(`  ${file.padEnd(56)}${bytes.toLocaleString("en").padStart(14)}`);
  for (const warning of release.warnings) console.log(`warning: ${warning}`);
  console.log(`
Checksums are in SHA256SUMS. To install the plugin, serve this directory over HTTP and run:
  pulumi plugin install resource recommender ${release.version} --server http://HOST`);
});
