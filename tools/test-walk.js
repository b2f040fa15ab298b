const { testAtLength } = require("./at-length.js");

/** `npm run test:walk [STEPS [SEED]]`: the walk over the real engine's options of `npm test`, longer and another each time. */
testAtLength(
  ["test/engine/walk.test.ts"],
  [
    ["STEPS", "100"],
    ["WALK_SEED", String(Date.now() & 0xffffffff)],
  ],
);
