// Loaded into a service whose memory is measured: it collects its garbage when it is told to.
const { isMainThread } = require("node:worker_threads");

if (isMainThread) process.on("SIGUSR2", () => globalThis.gc?.());
