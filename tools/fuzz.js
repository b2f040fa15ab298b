const { testAtLength } = require("./at-length.js");

/** `npm run fuzz [CASES [SEED]]`: the odd requests of `npm test`, more of them and others each time. */
testAtLength(
  ["test/service/http/fuzz.test.ts"],
  [
    ["FUZZ_CASES", "10000"],
    ["FUZZ_SEED", String(Date.now() & 0xffffffff)],
  ],
);
