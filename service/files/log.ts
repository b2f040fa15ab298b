import { appendFileSync, copyFileSync, statSync, truncateSync, writeSync } from "node:fs";
import pino, { type DestinationStream } from "pino";
import type { DataDirectory } from "./data-directory";

/** Size at which the log file is rotated. One earlier file is kept, so the log takes at most twice as much. */
const rotateAboveBytes = 32 * 1024 * 1024;

const bufferMs = 250;
const bufferCharacters = 65_536;

/** Destination of log lines. */
export type LogTarget = "file" | "stderr" | "none" | DestinationStream;

/** Creates a structured log. A log file drops all lines after `end`. */
export function createLog(target: LogTarget, dataDirectory: DataDirectory, fields: object = {}) {
  const options = {
    base: { pid: process.pid, ...fields },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorWithoutRows },
  };
  const none = () => undefined;
  if (target === "none") return { log: pino({ enabled: false }), end: none };
  if (typeof target === "object") return { log: pino(options, target), end: none };
  if (target === "stderr")
    return { log: pino(options, { write: (line) => orDrop(() => writeSync(2, line)) }), end: none };
  const file = new LogFile(dataDirectory.logFile);
  const log = pino(options, file);
  return {
    log,
    end: () => {
      log.level = "silent";
      file.end();
    },
  };
}

/** Serializes an error without the fields in which PostgreSQL quotes rows, because they contain user ids. */
function errorWithoutRows(error: Error): object {
  const { detail: _, where: __, hint: ___, internalQuery: ____, ...rest } = pino.stdSerializers.err(error);
  return rest;
}

/**
 * Appends to a file of bounded size. Lines that cannot be written are dropped: a full disk must not block the service.
 */
export class LogFile implements DestinationStream {
  private lines = "";
  private timer: NodeJS.Timeout | undefined;
  private readonly flush = () => {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { lines } = this;
    this.lines = "";
    if (lines === "") return;
    orDrop(() => {
      const { size = 0 } = statSync(this.file, { throwIfNoEntry: false }) ?? {};
      if (size <= this.maxBytes) return;
      // Copied instead of renamed, because the output of a detached service goes to the same open file.
      copyFileSync(this.file, `${this.file}.1`);
      truncateSync(this.file);
    });
    orDrop(() => appendFileSync(this.file, lines, { mode: 0o600 }));
  };

  constructor(
    private readonly file: string,
    private readonly maxBytes = rotateAboveBytes,
  ) {
    process.on("exit", this.flush);
  }

  /** Buffers lines for a quarter of a second. Writing each line separately takes a tenth of the service's time. */
  write(line: string): void {
    this.lines += line;
    if (this.lines.length >= bufferCharacters) this.flush();
    else this.timer ??= setTimeout(this.flush, bufferMs).unref();
  }

  end(): void {
    process.off("exit", this.flush);
    this.flush();
  }
}

function orDrop(write: () => void): void {
  try {
    write();
  } catch {
    // There is no other place to report the error.
  }
}
