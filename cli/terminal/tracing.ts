import type { Command } from "commander";
import { enableTracing, isTracing, traced, traceEnvironment } from "../../telemetry/tracing";

/** Runs a command in a span, if the environment turns tracing on. The programs that it starts continue the trace. */
export function tracedCommand<T>(program: Command, run: () => Promise<T>): Promise<T> {
  const name = process.argv.slice(2).find((word) => program.commands.some((one) => one.name() === word));
  // A service must not be part of the span of one command, so `serve` turns tracing on itself.
  if (name === undefined || name === "serve") return run();
  const onProblem = (message: string) => process.stderr.write(`${message}\n`);
  enableTracing({ name: "recommender", continues: true, onProblem });
  if (!isTracing()) return run();
  return traced({ name: `recommender ${name}` }, () => {
    Object.assign(process.env, traceEnvironment());
    return run();
  });
}
