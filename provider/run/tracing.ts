import { enableTracing, flushTracing, isTracing, traced } from "../../telemetry/tracing";
import { log, type Urn } from "./engine";
import { logicalName } from "./urn";

/** Steps that the engine repeats in every run and that change nothing. Nobody waits until their spans are sent. */
const quick: readonly string[] = ["check", "diff"];

/** Turns tracing on in a process of the provider, if the environment asks for it. */
export function enableProviderTracing(): void {
  const onProblem = (message: string) => void log.warn(undefined, message);
  enableTracing({ name: "pulumi-recommender", continues: true, onProblem });
}

/** Runs a step of a resource's lifecycle in a span. */
export async function tracedStep<T>(
  operation: string,
  resource: { readonly type: string; readonly urn: Urn },
  work: () => Promise<T>,
): Promise<T> {
  if (!isTracing()) return work();
  const attributes = {
    "pulumi.operation": operation,
    "pulumi.resource.type": resource.type,
    "pulumi.resource.name": logicalName(resource.urn),
  };
  try {
    return await traced({ name: `${operation} ${resource.type}`, attributes }, work);
  } finally {
    // The engine ends a dynamic provider without notice, as soon as it has the reply to the last step.
    const sent = flushTracing();
    if (!quick.includes(operation)) await sent;
  }
}
