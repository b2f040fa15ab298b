// A process that attacks a service: what it costs must not count as the service's own.

import { attacks, type Force, type Target } from "./attacks";

process.once("message", async ({ name, target, force }: { name: string; target: Target; force: Force }) => {
  await attacks[name]?.(target, force);
  process.send?.("over", () => process.exit());
});
process.on("disconnect", () => process.exit());
