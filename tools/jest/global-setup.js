const path = require("node:path");
const { provideEngine } = require("../engine/provide.js");
const { buildPackage } = require("../setup.js");

/** Tests use the built package and the engine; both reach the workers through the environment. */
module.exports = async () => {
  await buildPackage();
  const { bin } = await provideEngine();
  process.env.PATH = `${bin}${path.delimiter}${process.env.PATH}`;
};
