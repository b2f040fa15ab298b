// The recommendation service. This file exports its public functions and types.
// Layers: http, console, handlers, jobs, serving, threads, backup, files, store, base, algorithms (from top to bottom).

export { exportService, type Progress } from "./backup/export";
export type { Manifest } from "./backup/manifest";
export type { Place } from "./backup/place";
export { checkBackup, restoreService } from "./backup/restore";
export { type Clock, systemClock } from "./base/clock";
export { foldScopes } from "./base/scopes";
export { type ClientsPlace, withClients } from "./clients";
export * from "./embedded";
export { DataDirectoryBusyError } from "./files/lock";
export type { StartOptions } from "./options";
export { type Seed, seed } from "./seed";
export { type Service, startService } from "./start";
export type { Client, Clients } from "./store/clients";
export type { PageSettings } from "./store/page-access";
