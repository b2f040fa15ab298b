const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { root } = require("../setup.js");
const { npm } = require("./npm.js");
const { nodeVersion } = require("./platforms.js");

const { name, version } = require("../../package.json");

/**
 * What the release is made of, in CycloneDX: the packages that the npm package depends on, those that are bundled into
 * the plugin, and its Node. npm lists all that package-lock.json holds. Its own --omit=dev would leave out what is needed
 * both for development and in use.
 * @param {string | undefined} date
 * @param {string[]} bundled the folders of packages; none where no plugin is made
 * @returns {Promise<string>}
 */
async function billOfMaterials(date, bundled) {
  const bill = JSON.parse(
    await npm(["sbom", "--sbom-format=cyclonedx", "--package-lock-only", "--loglevel=error"]),
  );
  const ids = new Set(
    bundled.map((folder) => {
      const file = path.join(root, folder, "package.json");
      const { name, version } = JSON.parse(fs.readFileSync(file, "utf8"));
      return `${name}@${version}`;
    }),
  );
  const components = bill.components.filter(
    (/** @type {Component} */ component) => !isForDevelopment(component) || ids.has(component["bom-ref"]),
  );
  if (bundled.length > 0) components.push(nodeComponent);
  const kept = new Set([bill.metadata.component, ...components].map((component) => component["bom-ref"]));
  const dependencies = bill.dependencies
    .filter((/** @type {Dependency} */ { ref }) => kept.has(ref))
    .map((/** @type {Dependency} */ { ref, dependsOn }) => ({
      ref,
      dependsOn: dependsOn.filter((id) => kept.has(id)),
    }));
  // npm takes the name of the folder.
  const component = { ...bill.metadata.component, name };
  const metadata = { ...bill.metadata, timestamp: date, component };
  const whole = { ...bill, serialNumber: undefined, metadata, components, dependencies };
  return `${JSON.stringify({ ...whole, serialNumber: serialNumberOf(JSON.stringify(whole)) }, null, 2)}\n`;
}

/**
 * @typedef {{ "bom-ref": string, properties?: { name: string, value: string }[] }} Component
 * @typedef {{ ref: string, dependsOn: string[] }} Dependency
 */

/** @param {Component} component */
function isForDevelopment({ properties = [] }) {
  return properties.some(({ name, value }) => name === "cdx:npm:package:development" && value === "true");
}

const nodeComponent = {
  "bom-ref": `node@${nodeVersion}`,
  type: "platform",
  name: "node",
  version: nodeVersion,
  scope: "required",
  description: `Node.js, in the archives of the plugin of ${version}`,
  purl: `pkg:generic/node@${nodeVersion}`,
};

/** An id that follows from the content, so that the same release has the same one. @param {string} text */
function serialNumberOf(text) {
  const hex = createHash("sha256").update(text).digest("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return `urn:uuid:${[...parts, hex.slice(20, 32)].join("-")}`;
}

module.exports = { billOfMaterials };
