const { whenUsed } = require("./when-used.js");

/** The compiler that the SDK's own module `typescript-shim` stands for. */
module.exports = whenUsed(() => require("typescript"));
