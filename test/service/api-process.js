// A process that serves beside the one that runs the tests, with a memory of its own. It ends when its parent is gone.
const { startService } = require("../../dist/service");

/** @type {Map<number, import("../../dist/service").Service>} */
const services = new Map();

process.on("message", async (/** @type {{ id: number, options?: object }} */ { id, options }) => {
  try {
    if (options) services.set(id, await startService(options));
    else await services.get(id)?.close();
    process.send?.({ id, url: services.get(id)?.url });
  } catch (error) {
    process.send?.({ id, error: String(error) });
  }
});
process.on("disconnect", () => process.exit());
