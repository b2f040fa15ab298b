const path = require("node:path");
const { provideEngine } = require("../engine/provide.js");
const { buildForTests } = require("../setup.js");

/** Tests use the built package and the engine; both reach the workers through the environment. */
module.exports = async () => {
  await buildForTests();
  const { bin } = await provideEngine();
  process.env.PATH = `${bin}${path.delimiter}${process.env.PATH}`;
};
