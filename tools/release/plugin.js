const fs = require("node:fs");
const path = require("node:path");
const { root } = require("../setup.js");
const { writeArchive } = require("./archive.js");
const { licences } = require("./bundle.js");
const { fetchFiles, pinned } = require("./npm.js");
const { nodeVersion, platforms } = require("./platforms.js");

const { version } = require("../../package.json");

/** System requirements of the plugin, for people who install it. */
const requirements = `The plugin contains Node, so you need to install nothing else. On Linux, that Node
needs glibc 2.28 or newer. Without it, as on Alpine, the plugin uses Node 20 or newer
on PATH.`;

/**
 * Writes the archive of the plugin for a platform, as `pulumi plugin install` expects it: a script at the top level that
 * starts the bundle with the Node in the archive. A single executable is no option: it would still need separate files
 * for the database and the threads of the embedded service, and for macOS it must be signed on a Mac.
 * @param {{ platform: string, directory: string, temporary: string, pluginDownloadURL?: string | undefined,
 *   bundle: Awaited<ReturnType<import("./bundle.js").bundlePlugin>> }} options
 */
async function writePluginArchive({ platform, directory, temporary, pluginDownloadURL, bundle }) {
  const { libsql, windows } = /** @type {import("./platforms.js").Platform} */ (platforms[platform]);
  const executable = windows ? "node.exe" : "node";
  const [ofNode, ...databases] = await Promise.all([
    nodeFiles(platform, temporary),
    ...libsql.map(async (name) => {
      const files = await fetchFiles(pinned(name), temporary, () => true);
      return files.map((file) => ({ ...file, name: `node_modules/${name}/${file.name}` }));
    }),
  ]);
  const program = ofNode.get(`bin/${executable}`);
  // The package for Windows contains no license.
  const licence = ofNode.get("LICENSE") ?? (await nodeFiles("linux-amd64", temporary)).get("LICENSE");
  if (!program || !licence)
    throw new Error(`The Node package for ${platform} lacks the executable or the license.`);
  const shim = `pulumi-resource-recommender${windows ? ".cmd" : ""}`;
  const schema = JSON.parse(fs.readFileSync(path.join(root, "schema.json"), "utf8"));
  const text = (/** @type {string} */ name, /** @type {string} */ content) => ({
    name,
    bytes: Buffer.from(content),
  });
  const name = `pulumi-resource-recommender-v${version}-${platform}.tar.gz`;
  await writeArchive(path.join(directory, name), [
    { name: shim, bytes: fs.readFileSync(path.join(__dirname, shim)), executable: true },
    { name: executable, bytes: program, executable: true },
    ...bundle.files,
    ...databases.flat(),
    text("schema.json", JSON.stringify({ ...schema, pluginDownloadURL })),
    text("README.md", readme),
    { name: "LICENSE", bytes: fs.readFileSync(path.join(root, "LICENSE")) },
    text("LICENSES-OF-OTHERS", licences(bundle.packages)),
    { name: "LICENSE-OF-NODE", bytes: licence },
  ]);
}

/** Downloads the executable of Node and its license. @param {string} platform @param {string} temporary */
async function nodeFiles(platform, temporary) {
  const { node: name, integrity } = /** @type {import("./platforms.js").Platform} */ (platforms[platform]);
  const wanted = { name, version: nodeVersion, integrity };
  const files = await fetchFiles(wanted, temporary, (file) => /^(bin\/node(\.exe)?|LICENSE)$/.test(file));
  return new Map(files.map((file) => [file.name, file.bytes]));
}

const readme = `# pulumi-resource-recommender ${version}

The plugin of pulumi-recommender. With it, programs in every Pulumi language can
declare recommendation services. Install it from this archive:

    pulumi plugin install resource recommender v${version} --file ARCHIVE

${requirements}

It contains Node ${nodeVersion} and the recommendation service. If a stack configures
no service, the plugin starts the embedded service, which stores its data in the
directory \`.recommender\`.
`;

module.exports = { requirements, writePluginArchive };
