import type { Attributes } from "../algorithms";
import type { IdIndex } from "../base/id-index";
import type { HashedUsers } from "../store/forgotten";
import type { DeploymentTable } from "../store/tables";
import type { Build } from "../threads/build";
import type { UserEvents } from "./user-events";

/**
 * Provides a deployment with the events of its users, and keeps its models up to date with the store. It is opened
 * before the deployment is built, so no write is missed.
 *
 * - `MemoryEventSource` keeps all events in memory and is notified of each write. Only one process may use the store.
 * - `DatabaseEventSource` reads the events of a user for each recommendation. Other processes may write to the store.
 */
export interface EventSource {
  /** Whether the build of the deployment must load all events. */
  readonly needsAllEvents: boolean;
  /** Signal that aborts the build of the deployment, which must then start again. */
  readonly abortsBuild?: AbortSignal;
  /** Starts to keep a deployment up to date, beginning with the writes that were made while it was built. */
  start(deployed: UpdatableModels, build: Build): EventReader;
  /** Stops keeping the deployment up to date. */
  close(): void;
}

/** The part of a deployment that an event source updates. `Deployed` implements it. */
export interface UpdatableModels {
  readonly row: DeploymentTable;
  readonly users: IdIndex;
  readonly items: IdIndex;
  userChanged(userId: string): void;
  placeItems(items: ReadonlyMap<string, { readonly attributes: Attributes }>): void;
  addItem(id: string): number;
  forget(userId: string): void;
  forgetAll(users: HashedUsers): Promise<void>;
  finishForgetting(): Promise<void>;
}

/** Reads the events of users for a deployment. */
export interface EventReader {
  /**
   * Returns the events of a user, or null if the event dataset was deleted. Before it returns, it updates the models
   * with all items and forgotten users that were written before the call.
   * @param isAddressed whether the caller named the project
   */
  read(userId: string, isAddressed: boolean): Promise<UserEvents | null>;
  /** Removes from the models all users who were forgotten before the call. */
  removeForgotten(): Promise<void>;
}
