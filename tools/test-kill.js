const { testAtLength } = require("./at-length.js");

/** `npm run test:kill [KILLS [SEED]]`: the kill test of `npm test` at length. */
testAtLength(["test/engine/kill.test.ts"], [["KILLS", "100"], ["KILL_SEED"]]);
