const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { Progress } = require("../engine/progress.js");
const { buildPackage } = require("../setup.js");
const { bundlePlugin } = require("./bundle.js");
const { readCheckout } = require("./checkout.js");
const { npm } = require("./npm.js");
const { nodeVersion, platforms } = require("./platforms.js");
const { requirements, writePluginArchive } = require("./plugin.js");
const { billOfMaterials } = require("./sbom.js");
const { requireSdkTools, writeSdks } = require("./sdk.js");
const { writeWebPackage } = require("./web.js");

/** The parts of a release: the npm packages, the SDKs, and the plugin for each platform. */
const parts = ["package", "web", "sdk", ...Object.keys(platforms)];

/**
 * @typedef {{ file: string, bytes: number, sha256: string }} Released
 * @typedef {{ directory: string, version: string, commit?: string | undefined, dirty: boolean, node: string, requirements: string,
 *   pluginDownloadURL?: string | undefined, files: Released[], warnings: string[] }} Release
 */

/**
 * Builds a release or parts of it. Its directory is replaced only when everything is complete.
 * @param {{ directory: string, only?: string[], pluginDownloadURL?: string | undefined }} options
 * @returns {Promise<Release>}
 */
async function writeRelease({ directory, only = [], pluginDownloadURL }) {
  const wanted = only.length > 0 ? only : parts;
  const unknown = wanted.find((part) => !parts.includes(part));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: use one of\n  ${parts.join(", ")}`);
  rejectOtherFiles(directory);
  const checkout = readCheckout();
  if (wanted.includes("sdk")) requireSdkTools();

  await fs.promises.mkdir(path.dirname(directory), { recursive: true });
  const making = await fs.promises.mkdtemp(`${directory}.making-`);
  const discard = () => fs.rmSync(making, { recursive: true, force: true });
  process.once("exit", discard);
  try {
    const made = path.join(making, "made");
    const temporary = path.join(making, "temporary");
    await Promise.all([made, temporary].map((one) => fs.promises.mkdir(one)));
    const bundled = await writeParts({ wanted, made, temporary, pluginDownloadURL, date: checkout.date });
    const release = await describeParts({ made, bundled, pluginDownloadURL, checkout });
    await fs.promises.rm(directory, { recursive: true, force: true });
    await fs.promises.rename(made, directory);
    return { directory, ...release };
  } finally {
    discard();
    process.off("exit", discard);
  }
}

/**
 * @param {{ wanted: string[], made: string, temporary: string, pluginDownloadURL: string | undefined,
 *   date: string | undefined }} options
 * @returns {Promise<string[]>} the directories of the packages that are bundled into the plugin
 */
async function writeParts({ wanted, made, temporary, pluginDownloadURL, date }) {
  const progress = new Progress(process.stderr, "release");
  if (wanted.includes("package")) {
    progress.say("building and packing the npm package");
    await npm(["pack", "--loglevel=error", "--pack-destination", made]);
  } else await buildPackage();
  if (wanted.includes("web")) {
    progress.say("building and packing the client for web pages");
    await writeWebPackage(made, path.join(temporary, "web"));
  }
  if (wanted.includes("sdk")) {
    progress.say("generating the SDKs");
    // Python writes this time into the wheel instead of the modification times of the files.
    process.env.SOURCE_DATE_EPOCH ??= String(Math.floor(Date.parse(date ?? "1985-10-26T08:15:00Z") / 1000));
    await writeSdks({ directory: made, temporary: path.join(temporary, "sdk"), pluginDownloadURL });
  }
  const wantedPlatforms = wanted.filter((part) => part in platforms);
  if (wantedPlatforms.length === 0) return [];
  progress.say("bundling the plugin");
  const bundle = await bundlePlugin();
  for (const [index, platform] of wantedPlatforms.entries()) {
    progress.say(`packing the plugin for ${platform} (${index + 1} of ${wantedPlatforms.length})`);
    await writePluginArchive({ platform, directory: made, temporary, pluginDownloadURL, bundle });
  }
  return bundle.packages;
}

/**
 * Writes the files that describe the release: bill of materials, release notes, manifest and checksums.
 * @param {{ made: string, bundled: string[], pluginDownloadURL: string | undefined,
 *   checkout: ReturnType<typeof readCheckout> }} options
 */
async function describeParts({ made, bundled, pluginDownloadURL, checkout }) {
  const { notes, warnings, ...source } = checkout;
  const write = (/** @type {string} */ name, /** @type {string} */ text) =>
    fs.promises.writeFile(path.join(made, name), text);
  await write("sbom.cdx.json", await billOfMaterials(source.date, bundled));
  await write("RELEASE-NOTES.md", `${notes}\n## The plugin\n\n${requirements}\n`);
  const asLine = requirements.replaceAll("\n", " ");
  const manifest = { ...source, node: nodeVersion, requirements: asLine, pluginDownloadURL };
  await write("manifest.json", `${JSON.stringify({ ...manifest, files: filesOf(made) }, null, 2)}\n`);
  const files = filesOf(made);
  await write("SHA256SUMS", files.map(({ file, sha256 }) => `${sha256}  ${file}\n`).join(""));
  return { ...manifest, files, warnings };
}

/** Throws if the directory contains anything except an earlier release. @param {string} directory */
function rejectOtherFiles(directory) {
  const names = fs.existsSync(directory) ? fs.readdirSync(directory) : [];
  const sums = names.includes("SHA256SUMS")
    ? fs.readFileSync(path.join(directory, "SHA256SUMS"), "utf8").matchAll(/^\w+ {2}(.+)$/gm)
    : [];
  const released = new Set(["SHA256SUMS", ...[...sums].map(([, file]) => file)]);
  const other = names.find((name) => !released.has(name));
  if (other === undefined) return;
  throw new Error(
    `${path.join(directory, other)} is not part of a release. Empty that directory, or choose another one with --out.`,
  );
}

/** @param {string} directory @returns {Released[]} */
function filesOf(directory) {
  return fs
    .readdirSync(directory)
    .sort()
    .map((file) => {
      const bytes = fs.readFileSync(path.join(directory, file));
      return { file, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
    });
}

module.exports = { parts, writeRelease };
