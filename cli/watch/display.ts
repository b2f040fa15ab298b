import type { Figures, Release, Watch } from "../release/history";
import { terminalWidth } from "../terminal/layout";
import { formatNumber, formatShare, note } from "../terminal/output";
import type { ServiceFigures } from "./service-metrics";

/** Time between two lines if they are not updated in place. */
const lineMs = 60_000;

const minuteMs = 60_000;

/** Measurements of a watch so far. */
interface WatchProgress {
  readonly watch: Watch;
  readonly metrics: readonly ServiceFigures[];
  /** Whether the newest call was answered. Time without an answer does not count. */
  readonly answered: boolean;
}

/** Shows a watch: one line that is updated in place on a terminal, otherwise one line per minute. */
export class WatchDisplay {
  readonly #isLive: boolean;
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly entry: Release,
    isJson: boolean,
  ) {
    this.#isLive = !isJson && process.stderr.isTTY === true;
  }

  update({ watch, metrics, answered }: WatchProgress): void {
    const waits = answered ? "" : " | waiting for the service";
    const line = `${this.entry.id}: ${watchLine(watch, metrics)}${waits}`;
    if (this.#isLive) {
      const columns = terminalWidth(process.stderr) - 1;
      process.stderr.write(`\r\x1b[K${line.length > columns ? `${line.slice(0, columns - 1)}…` : line}`);
      return;
    }
    if (performance.now() - this.#shownAt < lineMs) return;
    this.#shownAt = performance.now();
    note(line);
  }

  readonly end = (): void => {
    if (this.#isLive) process.stderr.write("\r\x1b[K");
  };
}

/** Describes the progress and the measurements of a watch in one line. */
function watchLine(watch: Watch, metrics: readonly ServiceFigures[]): string {
  const minutes = (ms: number) => Number((ms / minuteMs).toFixed(1));
  const service = metrics.map(({ calls, errors, maxLatencyMs }) => {
    const latency = maxLatencyMs === undefined ? "" : `, p95 up to ${maxLatencyMs} ms`;
    return `all users ${formatNumber(calls)} calls, ${formatShare(errors)} errors${latency}`;
  });
  return [
    `${minutes(watch.observedMs)} of ${minutes(watch.forMs)} min`,
    ...figureTexts(watch),
    ...new Set(service),
  ].join(" | ");
}

type Unit = (value: number) => string;

/** Describes the measurements of each deployment. The name is left out if there is only one. */
export function figureTexts({ now = {}, before = {} }: Watch): string[] {
  const names = Object.keys(now);
  return names.map((name) => {
    const figures = now[name] as Figures;
    const { answers, errors, empty, latencyMs, popularity } = figures;
    const former = before[name];
    const compared = (title: string, value: number | undefined, earlier: number | undefined, unit: Unit) => {
      if (value === undefined) return [];
      return [`${title} ${unit(value)}${earlier === undefined ? "" : ` (before ${unit(earlier)})`}`];
    };
    const parts = [
      `${answers} answers`,
      `${formatShare(errors)} errors`,
      `${formatShare(empty)} empty`,
      ...compared("p95", latencyMs, former?.latencyMs, (ms) => `${ms} ms`),
      ...compared("top ten", popularity, former?.popularity, formatShare),
    ];
    return `${names.length > 1 ? `${name}: ` : ""}${parts.join(", ")}`;
  });
}
