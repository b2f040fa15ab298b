import { appendFileSync, copyFileSync, statSync, truncateSync, writeSync } from "node:fs";
import pino, { type DestinationStream, type Logger } from "pino";
import type { DataDirectory } from "./data-directory";

/** The log file is begun anew above this size, and one earlier file is kept: so the log takes twice as much at most. */
const rotateAboveBytes = 32 * 1024 * 1024;

const gatherMs = 250;
const gatherCharacters = 65_536;

/** Where log lines go: the folder's file unless something else is given. */
export type LogTarget = "file" | "stderr" | "none" | DestinationStream;

/** A log and the way to end it. */
export interface Log {
  readonly log: Logger;
  /** Writes what is still to be written; lines that come later are dropped. */
  end(): void;
}

/** Structured log lines. Nothing that is logged holds headers or bodies, so there is nothing to blot out. */
export function createLog(target: LogTarget, folder: DataDirectory, about: object = {}): Log {
  const options = {
    base: { pid: process.pid, ...about },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorWithoutRows },
  };
  const none = () => undefined;
  if (target === "none") return { log: pino({ enabled: false }), end: none };
  if (typeof target === "object") return { log: pino(options, target), end: none };
  if (target === "stderr")
    return { log: pino(options, { write: (line) => orDrop(() => writeSync(2, line)) }), end: none };
  const file = new LogFile(folder.logFile);
  const log = pino(options, file);
  return {
    log,
    end: () => {
      log.level = "silent";
      file.end();
    },
  };
}

/** An error as it is logged. PostgreSQL quotes rows in some fields of its errors, with the ids of users. */
function errorWithoutRows(error: Error): object {
  const { detail: _, where: __, hint: ___, internalQuery: ____, ...rest } = pino.stdSerializers.err(error);
  return rest;
}

/** Appends to a file of bounded size. What cannot be written is dropped: a full disk must not hold up the service. */
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
      // Copied, not renamed: the output of a detached service goes to the same open file.
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

  /** Lines are gathered for a quarter of a second: writing each alone costs a tenth of the service's time. */
  write(line: string): void {
    this.lines += line;
    if (this.lines.length >= gatherCharacters) this.flush();
    else this.timer ??= setTimeout(this.flush, gatherMs).unref();
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
    // There is nowhere left to say so.
  }
}
