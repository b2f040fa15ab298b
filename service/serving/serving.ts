// serving/ holds what is deployed in memory, ready to answer and in step with every write.

import { systemClock } from "../base/clock";
import { ServiceError } from "../base/error";
import { JobError } from "../base/job-error";
import { modelSource } from "../files/models";
import type { ServiceContext } from "../files/service-context";
import type { Change } from "../store/changes";
import { projectOf } from "../store/find";
import { type ProjectData, projectData } from "../store/project-data";
import type { DeploymentTable } from "../store/tables";
import type { Pool } from "../threads/pool";
import { DatabaseEventSource } from "./database-events";
import { Deployed } from "./deployed";
import { notDeployed } from "./deployed-context";
import type { EventSource } from "./event-source";
import { MemoryEventSource, type Subscribe } from "./memory-events";

interface Entry {
  readonly row: DeploymentTable;
  deployed: Deployed | undefined;
  readonly loading: Promise<Deployed>;
  /** How often it could not be loaded before, and when it is tried again after another failure. */
  readonly failures: number;
  retryTs?: number;
  /** Whether its model is gone or damaged, which no further try mends. */
  isUnusable?: boolean;
  /** The deployment that comes after, while it is being loaded. */
  next?: Entry | undefined;
}

/** How long a deployment that cannot be loaded is left alone: twice as long after each failure. */
const [firstPauseMs, longestPauseMs] = [2000, 60_000];

/**
 * How often, at most, calls with unknown addresses make this process read which deployments exist. Each such call waits
 * for the next reading, so one that asks for a new deployment is answered, and many calls cost no more than one.
 */
const unknownEveryMs = 100;

/** What the deployments are prepared and served with. */
export interface ServingContext extends ServiceContext {
  readonly pool: Pool;
  /** The part of all recommendations that this process may answer. */
  readonly share: () => number;
}

/** The deployments in memory, kept in step with every write. */
export class Serving {
  /** Whether all deployments have been in memory at one time since the start. */
  wasReady = false;
  private readonly entries = new Map<string, Entry>();
  /** The projects that stable addresses lead to. */
  private readonly projectAt = new Map<string, string>();
  private readonly listeners = new Set<(change: Change) => void>();
  private looking: Promise<void> = Promise.resolve();
  private nextLook: Promise<void> | undefined;
  /** The reading that calls with unknown addresses wait for, and when it may begin. */
  private unknownLook: Promise<void> | undefined;
  private unknownDue = 0;

  constructor(private readonly context: ServingContext) {}

  /**
   * Brings the memory in line with what is deployed by the store: at the start, and whenever another process has deployed
   * or shut down. What is new begins to load; calls wait until it is there, or get the former one's answers. One look at
   * the store at a time, so that none brings back what a later one has seen; whoever asks meanwhile shares the next.
   */
  sync(): Promise<void> {
    this.nextLook ??= this.looking
      .catch(() => undefined)
      .then(() => {
        this.nextLook = undefined;
        this.looking = this.look();
        return this.looking;
      });
    return this.nextLook;
  }

  /** Reads which deployments exist if another process may have made the one that a call asks for. */
  private async lookForUnknown(): Promise<void> {
    if (!this.context.store.isShared) return;
    this.unknownLook ??= (async () => {
      // By the time of the machine, because it protects the database from load.
      await systemClock.wait(Math.max(0, this.unknownDue - performance.now()), this.context.closing);
      this.unknownLook = undefined;
      this.unknownDue = performance.now() + unknownEveryMs;
      await this.sync();
    })();
    await this.unknownLook;
  }

  private async look(): Promise<void> {
    const rows = await this.context.store.db.selectFrom("deployments").selectAll().execute();
    const addresses = await this.context.store.db.selectFrom("stable_addresses").selectAll().execute();
    this.projectAt.clear();
    for (const { address, project_id } of addresses) this.projectAt.set(address, project_id);
    const wanted = new Set(rows.map((row) => row.project_id));
    for (const projectId of this.entries.keys()) if (!wanted.has(projectId)) this.remove(projectId);
    for (const row of rows) {
      const former = this.entries.get(row.project_id);
      const latest = former?.next ?? former;
      if (latest?.row.job_id !== row.job_id) this.load(row, former);
      else if (latest.retryTs && latest.retryTs <= this.context.clock.now())
        this.load(row, former, latest.failures + 1);
    }
  }

  private load(row: DeploymentTable, former: Entry | undefined, failures = 0): void {
    const { closing, clock, log } = this.context;
    const entry: Entry = { row, deployed: undefined, loading: this.prepare(row), failures };
    const isWanted = () => {
      const current = this.entries.get(row.project_id);
      return current === entry || current?.next === entry;
    };
    if (former?.deployed) former.next = entry;
    else this.entries.set(row.project_id, entry);
    entry.loading.then(
      (deployed) => {
        if (!isWanted()) return deployed.close();
        entry.deployed = deployed;
        if (this.entries.get(row.project_id) === entry) return;
        this.remove(row.project_id);
        this.entries.set(row.project_id, entry);
      },
      (error) => {
        entry.isUnusable = error instanceof JobError;
        entry.retryTs = clock.now() + Math.min(firstPauseMs * 2 ** failures, longestPauseMs);
        if (!closing.aborted)
          log.error(
            { err: error, projectId: row.project_id, jobId: row.job_id },
            `deployment cannot be loaded${former?.deployed ? "; the former one answers" : ""}`,
          );
      },
    );
  }

  /** Makes a deployment ready to serve, with all that is written until and after that moment. */
  async prepare(row: DeploymentTable, signal?: AbortSignal): Promise<Deployed> {
    const { store, pool } = this.context;
    const project = await projectOf(store.db, row.project_id);
    const data = await projectData(store.db, project);
    const generator = await modelSource(this.context, row.generator_model_id);
    const ranker = row.ranker_model_id === null ? null : await modelSource(this.context, row.ranker_model_id);
    const source = this.eventSource(data);
    try {
      const task = {
        kind: "DEPLOYMENT" as const,
        data,
        generator,
        ranker,
        withEvents: source.needsAllEvents,
      };
      const signals = [signal, source.abortsBuild].filter((one) => one !== undefined);
      const build = await pool.run(task, AbortSignal.any(signals));
      const onStale = () => this.reload(row);
      const sources = ranker ? [generator, ranker] : [generator];
      return new Deployed(build, data, row, { ...this.context, onStale, sources }, source);
    } catch (error) {
      source.close();
      throw error;
    }
  }

  private eventSource(data: ProjectData): EventSource {
    const { store, log } = this.context;
    if (!store.isShared) return new MemoryEventSource(data, this.subscribe);
    const onOutdated = () =>
      void this.sync().catch((error) => log.error({ err: error }, "deployments cannot be read"));
    const onSeveral = async () => {
      await this.sync();
      this.only();
    };
    return new DatabaseEventSource(store.db, data, { onOutdated, onSeveral });
  }

  private readonly subscribe: Subscribe = (listener) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Loads a deployment again while the one in memory goes on answering. */
  private reload(row: DeploymentTable): void {
    const entry = this.entries.get(row.project_id);
    if (entry?.row.job_id === row.job_id && entry.deployed && !entry.next) this.load(row, entry);
  }

  /** Has all deployments remove what they learned of forgotten users, before these are removed from the models' files. */
  async forgetForgotten(): Promise<void> {
    for (const { deployed } of this.entries.values()) await deployed?.events.removeForgotten();
  }

  /** Lets a prepared deployment serve in place of the former one. */
  install(row: DeploymentTable, deployed: Deployed, stableAddress?: string): void {
    this.remove(row.project_id);
    if (stableAddress !== undefined) this.projectAt.set(stableAddress, row.project_id);
    if (this.context.role === "worker") deployed.close();
    else this.entries.set(row.project_id, { row, deployed, loading: Promise.resolve(deployed), failures: 0 });
  }

  /** Takes a project out of service. */
  remove(projectId: string): void {
    const former = this.entries.get(projectId);
    this.entries.delete(projectId);
    if (former?.deployed) former.deployed.close();
  }

  /** Whether a deployed project answers without waiting; with what a certain job deployed, where one is named. */
  isLoaded(projectId: string, jobId?: string): boolean {
    const entry = this.entries.get(projectId);
    return entry?.deployed !== undefined && (jobId === undefined || entry.row.job_id === jobId);
  }

  /** Whether the model of a deployed project is gone or damaged. */
  isUnusable(projectId: string): boolean {
    return this.entries.get(projectId)?.isUnusable === true;
  }

  /** Notifies the deployments of a write. */
  publish(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }

  /** The deployment of a project. */
  async find(projectId: string): Promise<Deployed> {
    if (!this.entries.has(projectId)) await this.lookForUnknown();
    const entry = this.entries.get(projectId) ?? (await this.refuse(projectId));
    if (entry.deployed) return entry.deployed;
    try {
      return await entry.loading;
    } catch {
      throw new ServiceError(
        "UNAVAILABLE",
        `The models of project ${entry.row.project_id} cannot be loaded (see the log); deploy it again with /submit-deployment-job.`,
        { headers: { "retry-after": "5" } },
      );
    }
  }

  /** The only project that is deployed, which answers calls without an address. */
  async onlyProject(): Promise<string> {
    if (this.entries.size !== 1) await this.lookForUnknown();
    return this.only().row.project_id;
  }

  /** The project that a stack's stable address leads to now. */
  async projectOf(address: string): Promise<string> {
    if (!this.projectAt.has(address)) await this.lookForUnknown();
    const projectId = this.projectAt.get(address);
    if (projectId !== undefined) return projectId;
    const [, stack, resource] = address.split("/").map(decodeURIComponent);
    throw new ServiceError(
      "NOT_DEPLOYED",
      `No deployment ${resource} of stack ${stack} has succeeded yet. Run \`pulumi up\` on that stack.`,
    );
  }

  /** Returns whether a project without a deployment exists. */
  private async refuse(projectId: string): Promise<never> {
    await projectOf(this.context.store.db, projectId);
    throw notDeployed(projectId);
  }

  private only(): Entry {
    const [entry, ...others] = this.entries.values();
    if (!entry)
      throw new ServiceError("NOT_DEPLOYED", "No model is deployed; deploy one with /submit-deployment-job.");
    if (others.length === 0) return entry;
    const uris = [...this.entries.keys()].slice(0, 5).map((id) => this.context.addresses.servingUri(id));
    throw new ServiceError(
      "CONFLICT",
      `${this.entries.size} projects are deployed, so the address must say which: ` +
        `call /recommend-items-to-user under the project's serving_uri, as in ${uris.join(", ")}.`,
    );
  }
}
