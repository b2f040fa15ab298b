const path = require("node:path");
const { default: Sequencer } = require("@jest/test-sequencer");

/** Parts of the paths of tests, those that take longest first. */
const longest = [
  "/faults/recovery.",
  "/engine/promotion.",
  "/engine/languages.",
  "/faults/table.",
  "/engine/packed.",
  "/cli/commands/service.",
  "/engine/drift.",
  "/faults/walk.",
  "/engine/examples.",
  "/engine/secrets.",
  "/engine/kill.",
  "/engine/release.",
  "/engine/options.",
  "/engine/stack-command.",
  "/tools/sdk.",
  "/engine/",
  "/faults/",
  "/cli/",
  "/provider/",
  "/records/",
  "/service/",
];

/**
 * Runs what takes long first, so that no worker is left alone with it at the end. Jest knows how long a file takes
 * only from earlier runs, and takes the longest file for the slowest before that; a fresh clone has no earlier runs.
 */
class LongestFirst extends Sequencer {
  /** @param {Parameters<Sequencer["sort"]>[0]} tests @override */
  sort(tests) {
    return [...tests].sort((one, other) => rank(one.path) - rank(other.path));
  }
}

/** @param {string} file */
function rank(file) {
  const relative = path.relative(path.join(__dirname, "../.."), file).split(path.sep).join("/");
  const found = longest.findIndex((part) => relative.includes(part));
  return found < 0 ? longest.length : found;
}

module.exports = LongestFirst;
