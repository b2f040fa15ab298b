// A helper that takes a part of a step and ends, as one does that runs out of memory.
const { workerData } = require("node:worker_threads");

/** @param {{ counters: Int32Array }} shared */
const end = ({ counters }) => {
  Atomics.add(counters, 0, 1);
  process.exit(1);
};
workerData.port.on("message", end);
