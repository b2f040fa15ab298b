export { type Clock, ManualClock, systemClock } from "./clock";
export {
  type Embedded,
  type Existing,
  embedded,
  existing,
  findRunning,
  folderBusyExitCode,
  type Reachable,
} from "./embedded";
export { deleteData, type Folder, folderAt, isDataFolder, refuseForeign } from "./folder";
export { FolderBusyError, isLocked, lockFolder, readRunning } from "./lock";
export { type Seed, seed } from "./seed";
export { type Service, type StartOptions, startService } from "./start";
export { statusReply } from "./status";
