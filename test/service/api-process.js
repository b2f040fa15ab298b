// A second process of the service, separate from the tests. It ends with its parent.
const path = require("node:path");

/** Compiled, because Node cannot run the sources. @type {typeof import("../../service")} */
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
