const fs = require("node:fs");
const path = require("node:path");
const { executable, missingFrom, versionOf, isAtLeast } = require("./programs.js");
const { SourceUnavailable, reasonOf } = require("./errors.js");

/**
 * Returns the first `pulumi` on PATH, if it is new enough and its directory contains the other two programs.
 * @param {{ searchPath: string, oldestVersion: string }} options
 * @returns {import("./errors.js").Engine}
 */
function engineOnPath({ searchPath, oldestVersion }) {
  const fix = `Install Pulumi ${oldestVersion} or newer (pulumi.com/docs/install).`;
  const program = searchPath
    .split(path.delimiter)
    .filter((directory) => directory !== "")
    .map((directory) => path.join(directory, executable("pulumi")))
    .find((file) => fs.existsSync(file));
  if (program === undefined) throw new SourceUnavailable("there is no `pulumi` on PATH", fix);

  // With Homebrew, asdf or ~/bin, the file is a link, and the other programs are in the directory of its target.
  const directories = [path.dirname(program), path.dirname(fs.realpathSync(program))];
  const bin = directories.find((directory) => missingFrom(directory).length === 0);
  if (bin === undefined) {
    const missing = missingFrom(path.dirname(program)).join(" and ");
    throw new SourceUnavailable(`${program} lacks ${missing} in the same directory`, fix);
  }

  let version;
  try {
    version = versionOf(program);
  } catch (error) {
    throw new SourceUnavailable(reasonOf(error), fix);
  }
  if (!isAtLeast(version, oldestVersion)) {
    throw new SourceUnavailable(`${program} is version ${version}, older than ${oldestVersion}`, fix);
  }
  return { version, bin, source: "path" };
}

module.exports = { engineOnPath };
