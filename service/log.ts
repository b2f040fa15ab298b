import { existsSync, openSync, renameSync, statSync } from "node:fs";
import pino, { type DestinationStream, type Logger } from "pino";
import type { Folder } from "./folder";

const rotateAboveBytes = 64 * 1024 * 1024;

/** Where log lines go: the folder's file unless something else is given. */
export type LogTarget = "file" | "stderr" | "none" | DestinationStream;

/** A log and the way to end it. */
export interface Log {
  readonly log: Logger;
  /** Writes what is still to be written; lines that come later are dropped. */
  end(): void;
}

/** Structured log lines. Nothing that is logged holds headers or bodies, so there is nothing to blot out. */
export function createLog(target: LogTarget, folder: Folder): Log {
  const options = { base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime };
  const none = () => undefined;
  if (target === "none") return { log: pino({ enabled: false }), end: none };
  if (typeof target === "object") return { log: pino(options, target), end: none };
  if (target === "stderr")
    return { log: pino(options, pino.destination({ dest: 2, sync: true })), end: none };
  if (existsSync(folder.logFile) && statSync(folder.logFile).size > rotateAboveBytes) {
    renameSync(folder.logFile, `${folder.logFile}.1`);
  }
  // Lines are gathered for a quarter of a second: writing each alone costs a tenth of the service's time.
  const file = pino.destination({
    dest: openSync(folder.logFile, "a", 0o600),
    sync: false,
    minLength: 8192,
    periodicFlush: 250,
  });
  const log = pino(options, file);
  return {
    log,
    end: () => {
      log.level = "silent";
      file.flushSync();
      file.end();
    },
  };
}
