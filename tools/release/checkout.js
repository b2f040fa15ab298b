const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { root } = require("../setup.js");

/**
 * Reads the version, commit and release notes of a checkout, with warnings if it is not ready for a release. Throws if
 * its parts have different versions.
 * @param {string} directory
 */
function readCheckout(directory = root) {
  const read = (/** @type {string} */ name) => fs.readFileSync(path.join(directory, name), "utf8");
  const { version } = JSON.parse(read("package.json"));
  requireVersion(version, "openapi", JSON.parse(read("openapi.json")).info.version);
  requireVersion(version, "schema", JSON.parse(read("schema.json")).version);
  const { heading, notes } = newestSection(read("CHANGELOG.md"));
  const { commit, date, dirty, tags } = readGit(directory);
  if (tags.length > 0 && !tags.includes(`v${version}`)) {
    throw new Error(
      `HEAD is tagged ${tags.join(", ")}, but package.json has version ${version}. Set the version with ` +
        `\`npm version --no-git-tag-version\`, or remove the tag with \`git tag -d ${tags[0]}\`.`,
    );
  }
  /** @type {[boolean, string][]} */
  const checks = [
    [commit === undefined, "this is not a git checkout, so the manifest contains no commit"],
    [dirty, "some changes are not committed, so the commit does not contain them"],
    [commit !== undefined && tags.length === 0, `HEAD has no tag: run \`git tag v${version}\``],
    [heading !== version, `CHANGELOG.md starts with "${heading}": rename that section to ${version}`],
  ];
  const warnings = checks.flatMap(([applies, text]) => (applies ? [text] : []));
  return { version, commit, date, dirty, notes: `# pulumi-recommender ${version}\n\n${notes}\n`, warnings };
}

/** @param {string} version @param {string} name @param {string} other */
function requireVersion(version, name, other) {
  if (other === version) return;
  throw new Error(
    `${name}.json has version ${other}, but package.json has ${version}. Run \`npm run ${name}\`.`,
  );
}

/** @param {string} directory */
function readGit(directory) {
  const git = (/** @type {string[]} */ ...args) => {
    const { status, stdout } = spawnSync("git", args, { cwd: directory, encoding: "utf8" });
    return status === 0 ? stdout.trim() : "";
  };
  const [commit, date] = git("log", "-1", "--format=%H %cI").split(" ");
  return {
    commit: commit || undefined,
    date,
    dirty: git("status", "--porcelain") !== "",
    tags: git("tag", "--points-at", "HEAD")
      .split("\n")
      .filter((tag) => /^v\d/.test(tag)),
  };
}

/** @param {string} changelog */
function newestSection(changelog) {
  const [, section = ""] = changelog.split(/^## /m);
  const [line = ""] = section.split("\n");
  // A date may follow the version, as in `## [1.0.0] - 2026-01-01`.
  const heading = line.split(" ")[0]?.replace(/[[\]]/g, "");
  return { heading, notes: section.slice(line.length).trim() };
}

module.exports = { readCheckout };
