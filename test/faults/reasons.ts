import type { Program } from "./program";
import { type Kind, kinds } from "./rows";

/** Kinds that are created again when their dependency is. */
const chain = ["Project", "Algorithm", "TrainingJob", "DeploymentJob"] as const;

/** Call that creates objects of a kind. Jobs create models and deployments. */
export const callOf: Record<Kind, string> = {
  UserDataset: "POST /create-user-dataset",
  ItemDataset: "POST /create-item-dataset",
  EventDataset: "POST /create-event-dataset",
  Project: "POST /create-project",
  Algorithm: "POST /create-algorithm",
  TrainingJob: "POST /submit-training-job",
  Model: "POST /submit-training-job",
  DeploymentJob: "POST /submit-deployment-job",
  Deployment: "POST /submit-deployment-job",
};

/** Kinds that a changed argument replaces. Names change in place, except for the user dataset. */
const madeAnewBy: Partial<Record<keyof Program, Kind>> = {
  ...{ shards: "EventDataset", usersName: "UserDataset", parameters: "Algorithm" },
  ...{ trigger: "TrainingJob", trained: "TrainingJob" },
  ...{ deployed: "DeploymentJob", qps: "DeploymentJob", ranked: "DeploymentJob" },
};

/** Kinds whose job is a separate resource. */
const jobOf: Partial<Record<Kind, Kind>> = { Model: "TrainingJob", Deployment: "DeploymentJob" };

/** Counts the reasons to create objects. A kill or a lost call is no reason. */
export class Reasons {
  readonly #counts = new Map<string, number>();

  /** With steps, each create or update of the engine is a reason. */
  constructor(private readonly steps?: ReadonlyMap<Kind, number>) {}

  /** Returns the maximum number of objects that a call may have created. */
  most(call: string): number {
    if (!this.steps) return this.#counts.get(call) ?? 0;
    return [...this.steps].reduce((sum, [kind, count]) => sum + (callOf[kind] === call ? count : 0), 0);
  }

  /** Counts a create of a kind and its dependents. Only the first object of a kind has dependents. */
  toMake(kind: Kind, howMany = 1): void {
    const calls = [callOf[kind], ...chain.map((each) => callOf[each])];
    for (const call of new Set(calls.slice(calls.lastIndexOf(callOf[kind])))) this.#add(call);
    for (let further = 1; further < howMany; further++) this.#add(callOf[kind]);
  }

  /** Counts removed objects and their dependents, which are removed first. Their interrupted creates are useless. */
  toMakeAgain(left: readonly Kind[], begun: readonly Kind[]): void {
    const isByItsJob = (kind: Kind) => jobOf[kind] !== undefined && left.includes(jobOf[kind]);
    const standsOnLeft = (kind: Kind) =>
      !kind.endsWith("Dataset") && left.some((other) => kinds.indexOf(other) < kinds.indexOf(kind));
    for (const kind of left) if (!isByItsJob(kind)) this.#add(callOf[kind]);
    for (const kind of begun) if (standsOnLeft(kind)) this.#add(callOf[kind]);
  }

  /** Counts the creation of the whole program. */
  toMakeAll({ second }: Program): void {
    for (const kind of ["UserDataset", "ItemDataset", "EventDataset"] as const) this.#add(callOf[kind]);
    if (second) this.#add(callOf.EventDataset);
    this.toMake("Project");
  }

  /** Counts a change of the program. */
  toChange(before: Program, after: Program): void {
    for (const [key, kind] of Object.entries(madeAnewBy) as [keyof Program, Kind][])
      if (before[key] !== after[key]) this.toMake(kind);
    // The second dataset has no dependents.
    if (!before.second && after.second) this.#add(callOf.EventDataset);
  }

  #add(call: string): void {
    this.#counts.set(call, (this.#counts.get(call) ?? 0) + 1);
  }
}
