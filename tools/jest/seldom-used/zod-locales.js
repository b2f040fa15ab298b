const { whenUsed } = require("./when-used.js");

/** The languages of zod's messages, half of its files. */
module.exports = whenUsed(() => require("zod/locales"));
