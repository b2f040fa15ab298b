const { testAtLength } = require("./at-length.js");

/**
 * `npm run test:sequences [COUNT [SEED]]`: the random sequences of `npm test`, and as many walks over the options of the
 * engine; more of them and others each time.
 */
testAtLength(
  ["test/faults/recovery.test.ts", "test/faults/walk.test.ts"],
  [
    ["SEQUENCES", "3000"],
    ["SEED", String(Date.now() & 0xffffffff)],
  ],
);
