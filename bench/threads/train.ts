import { join } from "node:path";
import type * as Algorithms from "../../service/algorithms";
import type * as Team from "../../service/threads/team";
import { generateEvents } from "../service/events";

// Uses dist/, as users do, because the worker threads run compiled files.
const dist = join(__dirname, "..", "..", "dist", "service");

/** Trains with the requested number of threads on each message, and replies with the seconds. */
function main([shape = "{}", threads]: string[]): void {
  const { trainG1, InteractionsBuilder } = require(join(dist, "algorithms")) as typeof Algorithms;
  const { ThreadTeam } = require(join(dist, "threads", "team")) as typeof Team;
  const builder = new InteractionsBuilder();
  for (const { user_id, item_id, event_value, ts } of generateEvents(JSON.parse(shape)))
    builder.add(Number(user_id.slice(1)), Number(item_id.slice(1)), event_value, ts);
  const interactions = builder.build();
  process.on("message", async () => {
    const team = new ThreadTeam(Number(threads));
    const began = performance.now();
    trainG1({ interactions }, {}, () => undefined, team);
    const seconds = (performance.now() - began) / 1000;
    await team.close();
    process.send?.(seconds);
  });
  process.send?.("ready");
}

main(process.argv.slice(2));
