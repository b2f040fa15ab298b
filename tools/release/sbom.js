const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { root } = require("../setup.js");
const { npm } = require("./npm.js");
const { nodeVersion } = require("./platforms.js");

const { name, version } = require("../../package.json");

/**
 * Returns the bill of materials in CycloneDX format: the dependencies of the npm package, the packages bundled into the
 * plugin, and its Node. This filters npm's list itself, because npm's --omit=dev also omits packages that are needed both
 * for development and at run time.
 * @param {string | undefined} date
 * @param {string[]} bundled directories of the bundled packages; empty if no plugin is built
 * @returns {Promise<string>}
 */
async function billOfMaterials(date, bundled) {
  const bill = JSON.parse(
    await npm(["sbom", "--sbom-format=cyclonedx", "--package-lock-only", "--loglevel=error"]),
  );
  const ids = new Set(
    bundled.map((directory) => {
      const file = path.join(root, directory, "package.json");
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
  // npm uses the name of the directory, which may differ.
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

/** Derives the id from the content, so the same release always has the same id. @param {string} text */
function serialNumberOf(text) {
  const hex = createHash("sha256").update(text).digest("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return `urn:uuid:${[...parts, hex.slice(20, 32)].join("-")}`;
}

module.exports = { billOfMaterials };
