// Preloaded into a service whose memory is measured: collects garbage on a signal.
const { isMainThread } = require("node:worker_threads");

if (isMainThread) process.on("SIGUSR2", () => globalThis.gc?.());
