import type { Program } from "./program";
import { type Kind, kinds } from "./rows";

/** What is made anew when what stands before it is. */
const chain = ["Project", "Algorithm", "TrainingJob", "DeploymentJob"] as const;

/** The call that makes something of a kind; a model and a deployment are made by their jobs. */
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

/** What is made anew by another value of an argument; names of things change in place, but for that of the users. */
const madeAnewBy: Partial<Record<keyof Program, Kind>> = {
  ...{ shards: "EventDataset", usersName: "UserDataset", parameters: "Algorithm" },
  ...{ trigger: "TrainingJob", trained: "TrainingJob" },
  ...{ deployed: "DeploymentJob", qps: "DeploymentJob", ranked: "DeploymentJob" },
};

/** What is made by a job that is a resource of its own. */
const jobOf: Partial<Record<Kind, Kind>> = { Model: "TrainingJob", Deployment: "DeploymentJob" };

/** How often there was a reason to make anything: a kill and a call that is lost are none. */
export class Reasons {
  readonly #counts = new Map<string, number>();

  /** With steps, whatever the engine was told to create or to change is a reason. */
  constructor(private readonly steps?: ReadonlyMap<Kind, number>) {}

  /** The most that may have been made by a call. */
  most(call: string): number {
    if (!this.steps) return this.#counts.get(call) ?? 0;
    return [...this.steps].reduce((sum, [kind, count]) => sum + (callOf[kind] === call ? count : 0), 0);
  }

  /** Something of a kind is to be made, and what stands on it; nothing stands on further ones of the kind. */
  toMake(kind: Kind, howMany = 1): void {
    const calls = [callOf[kind], ...chain.map((each) => callOf[each])];
    for (const call of new Set(calls.slice(calls.lastIndexOf(callOf[kind])))) this.#add(call);
    for (let further = 1; further < howMany; further++) this.#add(callOf[kind]);
  }

  /** These are not held any more; nor is what stood on them, which goes first. What was begun on them is of no use. */
  toMakeAgain(left: readonly Kind[], begun: readonly Kind[]): void {
    const isByItsJob = (kind: Kind) => jobOf[kind] !== undefined && left.includes(jobOf[kind]);
    const standsOnLeft = (kind: Kind) =>
      !kind.endsWith("Dataset") && left.some((other) => kinds.indexOf(other) < kinds.indexOf(kind));
    for (const kind of left) if (!isByItsJob(kind)) this.#add(callOf[kind]);
    for (const kind of begun) if (standsOnLeft(kind)) this.#add(callOf[kind]);
  }

  /** The program is to be made from nothing. */
  toMakeAll({ second }: Program): void {
    for (const kind of ["UserDataset", "ItemDataset", "EventDataset"] as const) this.#add(callOf[kind]);
    if (second) this.#add(callOf.EventDataset);
    this.toMake("Project");
  }

  /** The program has changed. */
  toChange(before: Program, after: Program): void {
    for (const [key, kind] of Object.entries(madeAnewBy) as [keyof Program, Kind][])
      if (before[key] !== after[key]) this.toMake(kind);
    // Nothing stands on the second one.
    if (!before.second && after.second) this.#add(callOf.EventDataset);
  }

  #add(call: string): void {
    this.#counts.set(call, (this.#counts.get(call) ?? 0) + 1);
  }
}
