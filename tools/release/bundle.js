const { build } = require("esbuild");
const fs = require("node:fs");
const path = require("node:path");
const { root } = require("../setup.js");

/** The processes and threads of the plugin: itself, the embedded service that it starts, and the latter's threads. */
const entries = [
  "provider/plugin/main",
  "cli/main",
  "service/threads/worker",
  "service/threads/watch",
  "service/threads/helper",
];

/**
 * Bundles dist/ and all that it needs into one file for each process, at the place where dist/ has it.
 * @returns {Promise<{ files: import("./archive.js").File[], packages: string[] }>} and the folders of the packages in it
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
  // Modules find the package's other files from where they lie, two folders down; in a bundle all of them lie together.
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
    define: { __dirname: "moduleFolder" },
    banner: { js: `const moduleFolder = require("node:path").join(__dirname, "${up}");` },
    // The first is for commands that read a stack, which a plugin never does; the second for running from the sources;
    // the third for models in a bucket, which the service of a plugin does not have.
    external: ["@pulumi/pulumi/automation*", "tsx", "@aws-sdk/*"],
    legalComments: "none",
    logLevel: "error",
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`${name}: nothing was bundled`);
  const packages = Object.keys(metafile.inputs).flatMap((file) => {
    const [folder] = file.match(/^.*node_modules\/(@[^/]+\/)?[^/]+/) ?? [];
    return folder === undefined ? [] : [folder];
  });
  return { file: { name, bytes: Buffer.from(output.contents) }, packages };
}

/**
 * The licences of packages, as their terms ask for.
 * @param {string[]} packages
 */
function licences(packages) {
  const texts = packages.map((folder) => {
    const { name, version, license } = JSON.parse(
      fs.readFileSync(path.join(root, folder, "package.json"), "utf8"),
    );
    const file = fs.readdirSync(path.join(root, folder)).find((one) => /^(licen[cs]e|copying)/i.test(one));
    const text = file ? fs.readFileSync(path.join(root, folder, file), "utf8").trim() : "";
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

module.exports = { bundlePlugin, licences };
