// A process that serves beside the one that runs the tests, with a memory of its own. It ends when its parent is gone.
const path = require("node:path");

/** As it was built; the checks of types run before that. @type {typeof import("../../service")} */
const { startService } = require(path.join(__dirname, "../../dist/service"));

/** @type {Map<number, import("../../service").Service>} */
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
