const fs = require("node:fs");
const path = require("node:path");
const { root } = require("../setup.js");
const { writeArchive } = require("./archive.js");
const { licences } = require("./bundle.js");
const { fetchFiles, pinned } = require("./npm.js");
const { nodeVersion, platforms } = require("./platforms.js");

const { version } = require("../../package.json");

/** What an archive needs of the machine, for those who install it. */
const requirements = `Nothing has to be installed beside the plugin: it carries Node. On Linux that
needs glibc 2.28 or newer; elsewhere, as on Alpine, the plugin uses Node 20 or
newer on PATH.`;

/**
 * Writes the archive of the plugin for a platform, as `pulumi plugin install` expects it: the executable at its top,
 * with Node and the bundle beside it. A single executable would need files beside it all the same (the database of the
 * embedded service, its threads), and one for macOS must be signed on a Mac, while Node's own executable is signed.
 * @param {{ platform: string, folder: string, temporary: string, pluginDownloadURL?: string | undefined,
 *   bundle: Awaited<ReturnType<import("./bundle.js").bundlePlugin>> }} options
 */
async function writePluginArchive({ platform, folder, temporary, pluginDownloadURL, bundle }) {
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
  // The package for Windows holds no licence.
  const licence = ofNode.get("LICENSE") ?? (await nodeFiles("linux-amd64", temporary)).get("LICENSE");
  if (!program || !licence) throw new Error(`The package of Node for ${platform} is not as it was.`);
  const shim = `pulumi-resource-recommender${windows ? ".cmd" : ""}`;
  const schema = JSON.parse(fs.readFileSync(path.join(root, "schema.json"), "utf8"));
  const text = (/** @type {string} */ name, /** @type {string} */ content) => ({
    name,
    bytes: Buffer.from(content),
  });
  const name = `pulumi-resource-recommender-v${version}-${platform}.tar.gz`;
  await writeArchive(path.join(folder, name), [
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

/** Node's program and its licence. @param {string} platform @param {string} temporary */
async function nodeFiles(platform, temporary) {
  const { node: name, integrity } = /** @type {import("./platforms.js").Platform} */ (platforms[platform]);
  const wanted = { name, version: nodeVersion, integrity };
  const files = await fetchFiles(wanted, temporary, (file) => /^(bin\/node(\.exe)?|LICENSE)$/.test(file));
  return new Map(files.map((file) => [file.name, file.bytes]));
}

const readme = `# pulumi-resource-recommender ${version}

The plugin of pulumi-recommender, with which programs in every Pulumi language
declare recommendation services. The engine installs it from this archive:

    pulumi plugin install resource recommender v${version} --file ARCHIVE

${requirements}

It carries Node ${nodeVersion}, and the recommendation service: where a stack
configures no service, it starts the embedded one, which keeps its data in the
folder \`.recommender\`.
`;

module.exports = { requirements, writePluginArchive };
