export { type Clock, ManualClock, systemClock } from "./clock";
export { embedded, findRunning, folderBusyExitCode, type Reachable } from "./embedded";
export { FolderBusyError, folderAt } from "./folder";
export { type Seed, seed } from "./seed";
export { type Service, type StartOptions, startService } from "./start";
export { statusReply } from "./status";
