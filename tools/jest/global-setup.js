const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { provideEngine } = require("../engine/provide.js");
const { buildForTests } = require("../setup.js");

/** Tests use the built package and the engine; both reach the workers through the environment.
 * What is kept between runs belongs to this run of the tests alone. */
module.exports = async () => {
  await buildForTests();
  const { bin } = await provideEngine();
  process.env.XDG_STATE_HOME = fs.mkdtempSync(path.join(os.tmpdir(), "recommender-state-"));
  // Messages are looked for as they are worded; where a terminal breaks them is tried by test/cli/width.test.ts.
  process.env.COLUMNS = "1000";
  process.env.PATH = `${bin}${path.delimiter}${process.env.PATH}`;
};
