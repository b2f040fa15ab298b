import { type Job, progressText } from "../../client/job";
import type { Progress } from "../../records/upload-options";
import { exitCodes } from "./exit";
import { formatCount, formatDuration, formatNumber, note, type OutputOptions } from "./output";

/** Time between progress lines if no bar is shown. */
const noteIntervalMs = 5000;
const redrawIntervalMs = 100;

/** Shows the progress of some work. */
interface ProgressDisplay<T> {
  update(progress: T): void;
  end(): void;
}

/** Runs `work` with a progress display. On Ctrl+C, prints a message and exits. */
export async function withProgress<T>(
  { end }: Pick<ProgressDisplay<unknown>, "end">,
  message: () => string,
  work: () => Promise<T>,
): Promise<T> {
  const interrupted = () => {
    end();
    note(message());
    process.exit(exitCodes.interrupted);
  };
  process.once("SIGINT", interrupted);
  try {
    return await work();
  } finally {
    end();
    process.off("SIGINT", interrupted);
  }
}

/** How to show progress. */
interface View<T> {
  /** Template of the bar for cli-progress, with `{text}`. */
  readonly format: string;
  readonly barOptions?: object;
  readonly total: (progress: T) => number;
  readonly done: (progress: T) => number;
  /** Describes the progress next to the bar. */
  readonly text: (progress: T) => string;
  /** Describes the progress in a line without a bar. */
  readonly line: (progress: T) => string;
}

/** Shows a bar on a terminal, otherwise a line every few seconds. */
function display<T>({ json }: OutputOptions, view: View<T>): ProgressDisplay<T> {
  if (json === true || process.stderr.isTTY !== true) {
    let reportedAt = performance.now();
    const update = (progress: T) => {
      if (performance.now() - reportedAt < noteIntervalMs) return;
      reportedAt = performance.now();
      note(view.line(progress));
    };
    return { update, end: () => undefined };
  }
  const { SingleBar, Presets } = require("cli-progress") as typeof import("cli-progress");
  const { format, barOptions } = view;
  const drawn = { stream: process.stderr, clearOnComplete: true, hideCursor: true, barsize: 24 };
  const bar = new SingleBar({ format, ...drawn, barIncompleteChar: "·", ...barOptions }, Presets.rect);
  let [latest, timer]: [T | undefined, NodeJS.Timeout | undefined] = [undefined, undefined];
  const draw = () => latest && bar.update(view.done(latest), { text: view.text(latest) });
  return {
    update: (progress) => {
      latest = progress;
      if (!timer) bar.start(view.total(progress), view.done(progress), { text: view.text(progress) });
      timer ??= setInterval(draw, redrawIntervalMs);
    },
    end: () => {
      clearInterval(timer);
      bar.stop();
    },
  };
}

/** Shows the progress of an import. */
export function importProgress(options: OutputOptions): ProgressDisplay<Progress> {
  const began = performance.now();
  const text = ({ recordCount, skippedCount, bytes, totalBytes }: Progress) => {
    const seconds = Math.max(0.001, (performance.now() - began) / 1000);
    const left = (seconds * Math.max(0, totalBytes - bytes)) / Math.max(1, bytes);
    const rate = formatNumber((recordCount - skippedCount) / seconds);
    return `${formatCount(recordCount, "record")} | ${rate}/s | ${formatDuration(left)} left`;
  };
  const done = ({ bytes, totalBytes }: Progress) => Math.min(bytes, totalBytes);
  const percent = (progress: Progress) =>
    Math.floor((100 * done(progress)) / Math.max(1, progress.totalBytes));
  return display(options, {
    format: "{bar} {percentage} % | {text}",
    total: ({ totalBytes }) => totalBytes,
    done,
    text,
    line: (progress) => `${percent(progress)} % | ${text(progress)}`,
  });
}

/** Shows the progress of an export or a restore. */
export function rowProgress(
  options: OutputOptions,
): ProgressDisplay<{ readonly rows: number; readonly totalRows: number }> {
  const { update, end } = importProgress(options);
  return {
    update: ({ rows, totalRows }) =>
      update({ recordCount: rows, failedCount: 0, skippedCount: 0, bytes: rows, totalBytes: totalRows }),
    end,
  };
}

/** Shows the status of a job, the elapsed time, its progress if the service reports it, and its usual duration. */
export function jobProgress(
  options: OutputOptions,
  { noun, jobId, usually }: { noun: string; jobId: string; usually: string | undefined },
): ProgressDisplay<Job> {
  const began = performance.now();
  const text = (job: Job) => {
    const passed = formatDuration((performance.now() - began) / 1000);
    const retries = job.retryCount ? `, retried ${job.retryCount}×` : "";
    const parts = [
      `${noun} ${job.jobStatus}${retries}`,
      passed,
      progressText(job),
      usually && `usually ${usually}`,
    ];
    return parts.filter(Boolean).join(" | ");
  };
  return display(options, {
    format: "{bar} {text}",
    barOptions: { formatBar: bouncingBar },
    total: () => 1,
    done: () => 0,
    text,
    line: (job) => `${jobId}: ${text(job)}`,
  });
}

/** Draws an indeterminate progress bar: a block that moves back and forth. */
function bouncingBar(): string {
  const [width, block] = [24, 6];
  const steps = width - block;
  const step = Math.floor(performance.now() / redrawIntervalMs) % (2 * steps);
  const at = step < steps ? step : 2 * steps - step;
  return "·".repeat(at) + "■".repeat(block) + "·".repeat(steps - at);
}
