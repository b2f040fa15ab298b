const { build } = require("esbuild");
const fs = require("node:fs");
const path = require("node:path");
const { root } = require("../setup.js");

/** The entry points of the plugin: its own process, the embedded service that it starts, and the threads of the service. */
const entries = [
  "provider/plugin/main",
  "cli/main",
  "service/threads/worker",
  "service/threads/watch",
  "service/threads/helper",
];

/**
 * Bundles dist/ and its dependencies into one file for each entry point, under the same path as in dist/.
 * @returns {Promise<{ files: import("./archive.js").File[], packages: string[] }>} with the directories of the bundled packages
 */
async function bundlePlugin() {
  const results = await Promise.all(entries.map(bundle));
  return {
    files: results.map(({ file }) => file),
    packages: [...new Set(results.flatMap(({ packages }) => packages))].sort(),
  };
}

/** @param {string} entry */
async function bundle(entry) {
  const name = `dist/${entry}.js`;
  // Modules locate other files of the package relative to their own directory, which is two levels deep. In a bundle,
  // all modules share one directory.
  const up = path.posix.relative(path.posix.dirname(entry), "two/down");
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [name],
    outfile: name,
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    target: "node20",
    define: { __dirname: "moduleDirectory" },
    banner: { js: `const moduleDirectory = require("node:path").join(__dirname, "${up}");` },
    // Not needed in the plugin: commands that read a stack, running from the sources, and models in a bucket.
    external: ["@pulumi/pulumi/automation*", "tsx", "@aws-sdk/*"],
    legalComments: "none",
    logLevel: "error",
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild returned no output for ${name}`);
  const packages = Object.keys(metafile.inputs).flatMap((file) => {
    const [directory] = file.match(/^.*node_modules\/(@[^/]+\/)?[^/]+/) ?? [];
    return directory === undefined ? [] : [directory];
  });
  return { file: { name, bytes: Buffer.from(output.contents) }, packages };
}

/**
 * Returns the licenses of packages, which their terms require us to include.
 * @param {string[]} packages
 */
function licences(packages) {
  const texts = packages.map((directory) => {
    const { name, version, license } = JSON.parse(
      fs.readFileSync(path.join(root, directory, "package.json"), "utf8"),
    );
    const file = fs.readdirSync(path.join(root, directory)).find((one) => /^(licen[cs]e|copying)/i.test(one));
    const text = file ? fs.readFileSync(path.join(root, directory, file), "utf8").trim() : "";
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

module.exports = { bundlePlugin, licences };
