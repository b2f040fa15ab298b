const path = require("node:path");
const { parseArgs } = require("node:util");
const { runCommand } = require("./command.js");
const { installPackages, root } = require("./setup.js");

/**
 * `npm run release [-- --only PART …] [--out FOLDER] [--plugin-download-url URL] [--json]`: makes what a release needs
 * into release/. The address is where the plugin's archives will be published.
 */
runCommand(async () => {
  // What is half done is removed at the exit.
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
    folder: values.out === undefined ? path.join(root, "release") : path.resolve(values.out),
    only: values.only ?? [],
    pluginDownloadURL: values["plugin-download-url"],
  });
  if (values.json) return console.log(JSON.stringify(release));
  const folder = path.relative(process.cwd(), release.folder) || ".";
  console.log(`\n${folder}${" ".repeat(Math.max(1, 67 - folder.length))}bytes`);
  for (const { file, bytes } of release.files)
    console.log(`  ${file.padEnd(56)}${bytes.toLocaleString("en").padStart(14)}`);
  for (const warning of release.warnings) console.log(`warning: ${warning}`);
  console.log(`
Checksums are in SHA256SUMS. Where the folder is served over HTTP:
  pulumi plugin install resource recommender ${release.version} --server http://HOST`);
});
