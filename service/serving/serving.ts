// serving/ keeps the deployed models in memory, up to date with every write, and computes recommendations.

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
  /** Number of failed attempts to load this deployment before the current attempt. */
  readonly failures: number;
  /** Time of the next attempt, if the current attempt has failed. */
  retryTs?: number;
  /** Whether a model of the deployment is missing or damaged. Another attempt would fail too. */
  isUnusable?: boolean;
  /** The deployment that replaces this one and is still being loaded. */
  next?: Entry | undefined;
}

/** First and longest pause between attempts to load a deployment. Each pause is twice as long as the one before. */
const [firstPauseMs, longestPauseMs] = [2000, 60_000];

/**
 * Minimum time between two reads of the deployments for calls with unknown addresses. Such calls wait for the same
 * read, so many of them cost no more than one. After the read, calls to a new deployment are answered.
 */
const unknownEveryMs = 100;

/** Everything that deployments need from the service. */
export interface ServingContext extends ServiceContext {
  readonly pool: Pool;
  /** Returns the share of the rate limits that this process may use. */
  readonly share: () => number;
}

/** The deployments in memory, up to date with every write. */
export class Serving {
  /** Whether all deployments were loaded at the same time at least once since the start. */
  wasReady = false;
  private readonly entries = new Map<string, Entry>();
  /** Project ids by stable address. */
  private readonly projectAt = new Map<string, string>();
  private readonly listeners = new Set<(change: Change) => void>();
  private looking: Promise<void> = Promise.resolve();
  private nextLook: Promise<void> | undefined;
  /** The read that calls with unknown addresses wait for. */
  private unknownLook: Promise<void> | undefined;
  /** Earliest time of the next read for calls with unknown addresses. */
  private unknownDue = 0;

  constructor(private readonly context: ServingContext) {}

  /**
   * Reads the deployments from the store and updates those in memory. It is called at the start, and after another
   * process has deployed or shut down a project. A new deployment is loaded in the background. Until then, the previous
   * one answers, or calls wait if there is none. Reads run one at a time, so an older result never replaces a newer
   * one. Callers that arrive during a read share the next one.
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

  /** Reads the deployments, in case another process has created the one that a call addresses. */
  private async lookForUnknown(): Promise<void> {
    if (!this.context.store.isShared) return;
    this.unknownLook ??= (async () => {
      // Always waits by the system clock, because the pause protects the database from load.
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
    const entry: Entry = { row, deployed: undefined, loading: this.open(row), failures };
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
            `cannot load a deployment${former?.deployed ? "; the previous one still answers" : ""}`,
          );
      },
    );
  }

  /** Loads a new deployment. Throws if its rules are invalid. */
  prepare(row: DeploymentTable, signal: AbortSignal): Promise<Deployed> {
    return this.open(row, { signal, isNew: true });
  }

  /** Loads a deployment and keeps it up to date with every write from then on. */
  private async open(
    row: DeploymentTable,
    { signal, isNew = false }: { signal?: AbortSignal; isNew?: boolean } = {},
  ): Promise<Deployed> {
    const { store, pool } = this.context;
    const project = await projectOf(store.db, row.project_id);
    const data = await projectData(store.db, project);
    const generator = await modelSource(this.context, row.generator_model_id);
    const ranker = row.ranker_model_id === null ? null : await modelSource(this.context, row.ranker_model_id);
    const source = this.eventSource(data, row.project_id);
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
      const deployed = new Deployed(build, data, row, { ...this.context, onStale, sources }, source);
      const previous = this.entries.get(row.project_id)?.deployed;
      if (previous) await deployed.filters.prepareLike(previous.filters);
      // Before they are evaluated, which could take too long.
      if (isNew) await deployed.rules?.check();
      await deployed.rules?.prepare();
      return deployed;
    } catch (error) {
      source.close();
      throw error;
    }
  }

  private eventSource(data: ProjectData, projectId: string): EventSource {
    const { store, log } = this.context;
    if (!store.isShared) return new MemoryEventSource(data, this.subscribe);
    const onOutdated = () =>
      void this.sync().catch((error) => log.error({ err: error }, "cannot read the deployments"));
    const onSeveral = async () => {
      await this.sync();
      this.only();
    };
    const onShutDown = () => {
      throw notDeployed(projectId);
    };
    return new DatabaseEventSource(store.db, data, { onOutdated, onSeveral, onShutDown });
  }

  private readonly subscribe: Subscribe = (listener) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Loads a deployment again. The one in memory answers until the new one is loaded. */
  private reload(row: DeploymentTable): void {
    const entry = this.entries.get(row.project_id);
    if (entry?.row.job_id === row.job_id && entry.deployed && !entry.next) this.load(row, entry);
  }

  /**
   * Removes forgotten users from all deployments in memory. Must run before they are removed from the models' files.
   */
  async forgetForgotten(): Promise<void> {
    for (const { deployed } of this.entries.values()) await deployed?.events.removeForgotten();
  }

  /** Replaces the deployment of a project with one that is already loaded. */
  install(row: DeploymentTable, deployed: Deployed, stableAddress?: string): void {
    this.remove(row.project_id);
    if (stableAddress !== undefined) this.projectAt.set(stableAddress, row.project_id);
    if (this.context.role === "worker") deployed.close();
    else this.entries.set(row.project_id, { row, deployed, loading: Promise.resolve(deployed), failures: 0 });
  }

  /** Removes the deployment of a project from memory. */
  remove(projectId: string): void {
    const former = this.entries.get(projectId);
    this.entries.delete(projectId);
    if (former?.deployed) former.deployed.close();
  }

  /** Whether the deployment of a project is loaded and, if a job is given, was created by that job. */
  isLoaded(projectId: string, jobId?: string): boolean {
    const entry = this.entries.get(projectId);
    return entry?.deployed !== undefined && (jobId === undefined || entry.row.job_id === jobId);
  }

  /** Whether the model of a deployment is missing or damaged. */
  isUnusable(projectId: string): boolean {
    return this.entries.get(projectId)?.isUnusable === true;
  }

  /** Notifies the deployments of a write. */
  publish(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }

  /** Returns the deployment of a project, and waits if it is being loaded. */
  async find(projectId: string): Promise<Deployed> {
    if (!this.entries.has(projectId)) await this.lookForUnknown();
    const entry = this.entries.get(projectId) ?? (await this.refuse(projectId));
    if (entry.deployed) return entry.deployed;
    try {
      return await entry.loading;
    } catch {
      throw new ServiceError(
        "UNAVAILABLE",
        `The models of project ${entry.row.project_id} cannot be loaded. Look for the reason in the log of the service, then deploy the project again with /submit-deployment-job.`,
        { headers: { "retry-after": "5" } },
      );
    }
  }

  /** Returns the only deployed project, for calls that name no project. */
  async onlyProject(): Promise<string> {
    if (this.entries.size !== 1) await this.lookForUnknown();
    return this.only().row.project_id;
  }

  /** Returns the project that a stack's stable address currently refers to. */
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

  /** Throws the error for a project that does not exist or has no deployment. */
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
      `${this.entries.size} projects are deployed, so the address must name one: ` +
        `call /recommend-items-to-user under the project's serving_uri, as in ${uris.join(", ")}.`,
    );
  }
}
