const fs = require("node:fs");
const path = require("node:path");
const { executable, missingFrom, versionOf, isAtLeast } = require("./programs.js");
const { WayClosed, reasonOf } = require("./way.js");

/**
 * The first `pulumi` on PATH, if it is new enough and has its companions beside it.
 * @param {{ searchPath: string, oldestVersion: string }} options
 * @returns {import("./way.js").Engine}
 */
function engineOnPath({ searchPath, oldestVersion }) {
  const fix = `Install Pulumi ${oldestVersion} or newer (pulumi.com/docs/install).`;
  const program = searchPath
    .split(path.delimiter)
    .filter((directory) => directory !== "")
    .map((directory) => path.join(directory, executable("pulumi")))
    .find((file) => fs.existsSync(file));
  if (program === undefined) throw new WayClosed("there is no `pulumi` on PATH", fix);

  // A link may lie far from the folder that holds its companions (Homebrew, asdf, ~/bin).
  const folders = [path.dirname(program), path.dirname(fs.realpathSync(program))];
  const bin = folders.find((folder) => missingFrom(folder).length === 0);
  if (bin === undefined) {
    const missing = missingFrom(path.dirname(program)).join(" and ");
    throw new WayClosed(`${program} lacks ${missing} beside it`, fix);
  }

  let version;
  try {
    version = versionOf(program);
  } catch (error) {
    throw new WayClosed(reasonOf(error), fix);
  }
  if (!isAtLeast(version, oldestVersion)) {
    throw new WayClosed(`${program} is version ${version}, older than ${oldestVersion}`, fix);
  }
  return { version, bin, source: "path" };
}

module.exports = { engineOnPath };
