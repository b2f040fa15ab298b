import type { SingleBar } from "cli-progress";
import { type Job, progressText } from "../../client/job";
import type { Progress } from "../../records/upload-options";
import { exitCodes } from "./exit";
import { formatCount, formatDuration, formatNumber, note, type OutputOptions } from "./output";

/** Interval of progress lines if standard error is not a terminal. */
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

/** Whether progress bars can be drawn. */
function isInteractive({ json }: OutputOptions): boolean {
  return json !== true && process.stderr.isTTY === true;
}

function newBar(format: string, options: object = {}): SingleBar {
  const { SingleBar, Presets } = require("cli-progress") as typeof import("cli-progress");
  const drawn = { stream: process.stderr, clearOnComplete: true, hideCursor: true, barsize: 24 };
  return new SingleBar({ format, ...drawn, barIncompleteChar: "·", ...options }, Presets.rect);
}

/** Shows the progress of an import: a bar on a terminal, otherwise a line every few seconds. */
export function importProgress(options: OutputOptions): ProgressDisplay<Progress> {
  const began = performance.now();
  const text = ({ recordCount, skippedCount, bytes, totalBytes }: Progress) => {
    const seconds = Math.max(0.001, (performance.now() - began) / 1000);
    const left = (seconds * Math.max(0, totalBytes - bytes)) / Math.max(1, bytes);
    const rate = formatNumber((recordCount - skippedCount) / seconds);
    return `${formatCount(recordCount, "record")} | ${rate}/s | ${formatDuration(left)} left`;
  };
  if (isInteractive(options)) {
    const bar = newBar("{bar} {percentage} % | {text}");
    let begun = false;
    return {
      update: (progress) => {
        const done = Math.min(progress.bytes, progress.totalBytes);
        if (begun) bar.update(done, { text: text(progress) });
        else bar.start(progress.totalBytes, done, { text: text(progress) });
        begun = true;
      },
      end: () => bar.stop(),
    };
  }
  const report = throttledNote();
  return {
    update: (progress) =>
      report(() => {
        const share = Math.floor((100 * progress.bytes) / Math.max(1, progress.totalBytes));
        return `${Math.min(100, share)} % | ${text(progress)}`;
      }),
    end: () => undefined,
  };
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

/**
 * Shows the status of a job and the elapsed time. Also shows its progress if the service reports it, and the usual
 * duration if it is known.
 */
export function jobProgress(
  options: OutputOptions,
  { noun, jobId, usually }: { noun: string; jobId: string; usually: string | undefined },
): ProgressDisplay<Job> {
  const began = performance.now();
  let [status, progress] = ["", undefined as string | undefined];
  const text = () => {
    const passed = formatDuration((performance.now() - began) / 1000);
    return [`${noun} ${status}`, passed, progress ?? [], usually ? `usually ${usually}` : []]
      .flat()
      .join(" | ");
  };
  const observe = (job: Job) => {
    progress = progressText(job);
    status = job.jobStatus + (job.retryCount ? `, retried ${job.retryCount}×` : "");
  };
  if (isInteractive(options)) {
    const bar = newBar("{bar} {text}", { formatBar: bouncingBar });
    let timer: NodeJS.Timeout | undefined;
    return {
      update: (job) => {
        observe(job);
        if (!timer) bar.start(1, 0, { text: text() });
        timer ??= setInterval(() => bar.update(0, { text: text() }), redrawIntervalMs);
      },
      end: () => {
        clearInterval(timer);
        bar.stop();
      },
    };
  }
  const report = throttledNote();
  return {
    update: (job) => {
      observe(job);
      report(() => `${jobId}: ${text()}`);
    },
    end: () => undefined,
  };
}

/** Draws an indeterminate progress bar: a block that moves back and forth. */
function bouncingBar(): string {
  const [width, block] = [24, 6];
  const steps = width - block;
  const step = Math.floor(performance.now() / redrawIntervalMs) % (2 * steps);
  const at = step < steps ? step : 2 * steps - step;
  return "·".repeat(at) + "■".repeat(block) + "·".repeat(steps - at);
}

/** Returns a function that prints at most one line per interval. */
function throttledNote(): (text: () => string) => void {
  let reportedAt = performance.now();
  return (text) => {
    if (performance.now() - reportedAt < noteIntervalMs) return;
    reportedAt = performance.now();
    note(text());
  };
}
