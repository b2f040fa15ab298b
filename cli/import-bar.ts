import type { Progress } from "../provider/records/upload";

const plainEveryMs = 5000;
const shown = (count: number) => Math.round(count).toLocaleString("en");

/** Shows how far an import is: a bar with rate and time left on a terminal, a plain line now and then elsewhere. */
export function importBar(terminal: boolean): { update: (progress: Progress) => void; end: () => void } {
  return terminal ? barOnTerminal() : plainLines();
}

function barOnTerminal() {
  const { SingleBar, Presets } = require("cli-progress") as typeof import("cli-progress");
  const format = "{bar} {percentage} % | {records} records | {rate}/s | {left} left";
  const bar = new SingleBar(
    { format, stream: process.stderr, clearOnComplete: true, barsize: 30 },
    Presets.rect,
  );
  const pace = new Pace();
  let begun = false;
  return {
    update: (progress: Progress) => {
      const words = { records: shown(progress.recordCount), ...pace.of(progress) };
      if (!begun) bar.start(progress.totalBytes, progress.bytes, words);
      else bar.update(Math.min(progress.bytes, progress.totalBytes), words);
      begun = true;
    },
    end: () => bar.stop(),
  };
}

function plainLines() {
  const pace = new Pace();
  let told = performance.now();
  return {
    update: (progress: Progress) => {
      if (performance.now() - told < plainEveryMs) return;
      told = performance.now();
      const { rate, left } = pace.of(progress);
      const share = Math.min(100, Math.floor((100 * progress.bytes) / Math.max(1, progress.totalBytes)));
      process.stderr.write(`${share} %, ${shown(progress.recordCount)} records, ${rate}/s, ${left} left\n`);
    },
    end: () => undefined,
  };
}

/** Rate and time left, from the time since the first word of progress. */
class Pace {
  #began = performance.now();

  of({ recordCount, skippedCount, bytes, totalBytes }: Progress): { rate: string; left: string } {
    const seconds = Math.max(0.001, (performance.now() - this.#began) / 1000);
    const left = (seconds * Math.max(0, totalBytes - bytes)) / Math.max(1, bytes);
    return { rate: shown((recordCount - skippedCount) / seconds), left: duration(left) };
  }
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const [hours, minutes, rest] = parts as [number, number, number];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
}
