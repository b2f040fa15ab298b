// A separate process for attacks, so their cost is not measured as that of the service.

import { attacks, type Force, type Target } from "./attacks";

process.once("message", async ({ name, target, force }: { name: string; target: Target; force: Force }) => {
  await attacks[name]?.(target, force);
  process.send?.("over", () => process.exit());
});
process.on("disconnect", () => process.exit());
