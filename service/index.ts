export { type Clock, ManualClock, systemClock } from "./base/clock";
export {
  type Embedded,
  type Existing,
  embedded,
  existing,
  findRunning,
  folderBusyExitCode,
  type Reachable,
} from "./embedded";
export { deleteData, type Folder, folderAt, isDataFolder, refuseForeign } from "./files/folder";
export { FolderBusyError, isLocked, lockFolder, readRunning } from "./files/lock";
export { statusReply } from "./http/status";
export { type Seed, seed } from "./seed";
export { type Service, type StartOptions, startService } from "./start";
