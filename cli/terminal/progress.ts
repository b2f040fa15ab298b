import type { SingleBar } from "cli-progress";
import { type Job, progressText } from "../../client/job";
import type { Progress } from "../../records/upload-order";
import { formatCount, formatDuration, formatNumber, note, type OutputOptions } from "./output";

const noteIntervalMs = 5000;
const redrawIntervalMs = 100;

/** Whether somebody looks at a terminal while a command works. */
function isInteractive({ json }: OutputOptions): boolean {
  return json !== true && process.stderr.isTTY === true;
}

function newBar(format: string, options: object = {}): SingleBar {
  const { SingleBar, Presets } = require("cli-progress") as typeof import("cli-progress");
  const drawn = { stream: process.stderr, clearOnComplete: true, hideCursor: true, barsize: 24 };
  return new SingleBar({ format, ...drawn, barIncompleteChar: "·", ...options }, Presets.rect);
}

/** Shows how far an import is: a bar with rate and time left on a terminal, a plain line now and then elsewhere. */
export function importProgress(options: OutputOptions): {
  update: (progress: Progress) => void;
  end: () => void;
} {
  const began = performance.now();
  const words = ({ recordCount, skippedCount, bytes, totalBytes }: Progress) => {
    const seconds = Math.max(0.001, (performance.now() - began) / 1000);
    const left = (seconds * Math.max(0, totalBytes - bytes)) / Math.max(1, bytes);
    const rate = formatNumber((recordCount - skippedCount) / seconds);
    return `${formatCount(recordCount, "record")} | ${rate}/s | ${formatDuration(left)} left`;
  };
  if (isInteractive(options)) {
    const bar = newBar("{bar} {percentage} % | {words}");
    let begun = false;
    return {
      update: (progress) => {
        const done = Math.min(progress.bytes, progress.totalBytes);
        if (begun) bar.update(done, { words: words(progress) });
        else bar.start(progress.totalBytes, done, { words: words(progress) });
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
        return `${Math.min(100, share)} % | ${words(progress)}`;
      }),
    end: () => undefined,
  };
}

/** Shows in the same way how far an export or a restore is. */
export function rowProgress(options: OutputOptions): {
  update: (progress: { readonly rows: number; readonly totalRows: number }) => void;
  end: () => void;
} {
  const { update, end } = importProgress(options);
  return {
    update: ({ rows, totalRows }) =>
      update({ recordCount: rows, failedCount: 0, skippedCount: 0, bytes: rows, totalBytes: totalRows }),
    end,
  };
}

/**
 * Shows what a job does: its status, how far it is where the service says so, the time passed, and what such a job
 * usually takes where that is known.
 */
export function jobProgress(
  options: OutputOptions,
  { noun, jobId, usually }: { noun: string; jobId: string; usually: string | undefined },
): { update: (job: Job) => void; end: () => void } {
  const began = performance.now();
  let [status, progress] = ["", undefined as string | undefined];
  const words = () => {
    const passed = formatDuration((performance.now() - began) / 1000);
    return [`${noun} ${status}`, passed, progress ?? [], usually ? `usually ${usually}` : []]
      .flat()
      .join(" | ");
  };
  const see = (job: Job) => {
    progress = progressText(job);
    status = job.jobStatus + (job.retryCount ? `, retried ${job.retryCount}×` : "");
  };
  if (isInteractive(options)) {
    const bar = newBar("{bar} {words}", { formatBar: bouncingBar });
    let timer: NodeJS.Timeout | undefined;
    return {
      update: (job) => {
        see(job);
        if (!timer) bar.start(1, 0, { words: words() });
        timer ??= setInterval(() => bar.update(0, { words: words() }), redrawIntervalMs);
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
      see(job);
      report(() => `${jobId}: ${words()}`);
    },
    end: () => undefined,
  };
}

/** A block that goes to and fro: something is being done, nobody knows how much of it. */
function bouncingBar(): string {
  const [width, block] = [24, 6];
  const steps = width - block;
  const step = Math.floor(performance.now() / redrawIntervalMs) % (2 * steps);
  const at = step < steps ? step : 2 * steps - step;
  return "·".repeat(at) + "■".repeat(block) + "·".repeat(steps - at);
}

function throttledNote(): (text: () => string) => void {
  let reportedAt = performance.now();
  return (text) => {
    if (performance.now() - reportedAt < noteIntervalMs) return;
    reportedAt = performance.now();
    note(text());
  };
}
