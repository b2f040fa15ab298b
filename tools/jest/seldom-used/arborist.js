const { whenUsed } = require("./when-used.js");

/** Npm's reader of dependency trees, by a path that jest does not lead back here. */
const file = "@npmcli/arborist/lib/index.js";
module.exports = whenUsed(() => require(file));
