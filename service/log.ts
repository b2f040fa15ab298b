import { existsSync, renameSync, statSync } from "node:fs";
import pino, { type DestinationStream, type Logger } from "pino";
import type { Folder } from "./folder";

const rotateAboveBytes = 64 * 1024 * 1024;

/** Where log lines go: the folder's file unless something else is given. */
export type LogTarget = "file" | "stderr" | "none" | DestinationStream;

/** Structured log lines. Nothing that is logged holds headers or bodies, so there is nothing to blot out. */
export function createLog(target: LogTarget, folder: Folder): Logger {
  const options = { base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime };
  if (target === "none") return pino({ enabled: false });
  if (typeof target === "object") return pino(options, target);
  if (target === "stderr") return pino(options, pino.destination({ dest: 2, sync: true }));
  if (existsSync(folder.logFile) && statSync(folder.logFile).size > rotateAboveBytes) {
    renameSync(folder.logFile, `${folder.logFile}.1`);
  }
  return pino(options, pino.destination({ dest: folder.logFile, sync: false, mode: 0o600 }));
}
