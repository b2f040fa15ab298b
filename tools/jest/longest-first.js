const path = require("node:path");
const { default: Sequencer } = require("@jest/test-sequencer");

/** Parts of the paths of tests, those that take longest first. */
const longest = [
  "/faults/recovery.",
  "/engine/promotion.",
  "/engine/languages.",
  // They mostly wait, which costs nothing beside tests that compute.
  "/cli/commands/service.",
  "/faults/table.",
  "/console/screens.",
  "/console/console.",
  "/engine/packed.",
  "/engine/release.",
  "/service/store/forgotten.",
  "/cli/commands/commands.",
  "/service/backup/",
  "/engine/secrets.",
  "/engine/drift.",
  "/service/serving/live.",
  "/service/chaos.",
  "/engine/examples.",
  "/engine/options.",
  "/service/kill.",
  "/engine/kill.",
  "/faults/walk.",
  "/service/embedded.",
  "/engine/stack-command.",
  "/tools/sdk.",
  "/engine/",
  "/records/import",
  "/provider/jobs/jobs.",
  "/cli/terminal/width.",
  "/console/",
  "/tools/schema.",
  "/cli/commands/",
  "/provider/lifecycle/belonging.",
  "/faults/",
  "/service/algorithms/",
  "/handlers/recommendation.",
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
