import type { Figures, Watch } from "../release/history";
import { formatShare } from "../terminal/output";
import type { ServiceFigures } from "./service-metrics";

/** Minimum number of answers to find a violation. */
const minAnswers = 10;

/** A single lost connection must not roll back a release, so a limit needs this many bad answers. */
const minBad = 3;

/** Minimum number of answers for the limit of latency. With fewer, the 95th percentile would be the maximum. */
const minForLatency = 20;

/** Returns the first limit that the measurements of a deployment violate, in words. */
export function findViolation(
  name: string,
  { answers, errors, empty, latencyMs, popularity }: Figures,
  { limits, before }: Pick<Watch, "limits" | "before">,
): string | undefined {
  const { maxErrors, maxEmpty, maxLatencyMs, maxPopularityIncrease } = limits;
  const isMany = (share: number) => answers >= minAnswers && share * answers >= minBad - 1e-9;
  const of = `of the last ${answers} answers of ${name}`;
  if (isMany(errors) && errors > maxErrors)
    return `${formatShare(errors)} ${of} were errors, at most ${formatShare(maxErrors)} are allowed`;
  if (isMany(empty) && empty > maxEmpty)
    return `${formatShare(empty)} ${of} were empty, at most ${formatShare(maxEmpty)} are allowed`;
  if (
    latencyMs !== undefined &&
    maxLatencyMs !== undefined &&
    answers >= minForLatency &&
    latencyMs > maxLatencyMs
  )
    return `the 95th percentile of the latency of ${name} is ${latencyMs} ms, at most ${maxLatencyMs} ms are allowed`;
  const former = before?.[name]?.popularity;
  if (popularity === undefined || former === undefined || popularity - former <= maxPopularityIncrease)
    return undefined;
  return (
    `the ten most shown items have ${formatShare(popularity)} of all places in ${name}, compared with ` +
    `${formatShare(former)} before the switch; at most ${formatShare(maxPopularityIncrease)} more are allowed`
  );
}

/**
 * Returns the first limit that the calls of all users violate. Only a service with a single deployment can violate one,
 * because the metrics do not say which project a call belongs to.
 */
export function findServiceViolation(
  { calls, errors, minLatencyMs = 0, deployments }: ServiceFigures,
  { maxErrors, maxLatencyMs }: Watch["limits"],
): string | undefined {
  if (deployments !== 1 || calls < minForLatency) return undefined;
  if (errors * calls >= minBad - 1e-9 && errors > maxErrors)
    return `${formatShare(errors)} of ${calls} calls to the service were errors, at most ${formatShare(maxErrors)} are allowed`;
  if (maxLatencyMs !== undefined && minLatencyMs >= maxLatencyMs)
    return `more than 5 % of the calls to the service took over ${minLatencyMs} ms, at most ${maxLatencyMs} ms are allowed`;
  return undefined;
}
