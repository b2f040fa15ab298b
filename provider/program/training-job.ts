import type * as pulumi from "@pulumi/pulumi";
import type { Json } from "../../contract";
import { trainingJob } from "../training-job";
import { Resource } from "./resource";

/** What a training is submitted with. */
export interface TrainingJobArgs {
  /** Id of the project. */
  readonly projectId: pulumi.Input<string>;
  /** Id of the algorithm that is trained. */
  readonly algorithmId: pulumi.Input<string>;
  /** Name of the job and of the model that it trains; the logical name unless set. */
  readonly name?: pulumi.Input<string>;
  /** Any values: content hashes of records, a date, a nonce. When one of them changes, it trains again. */
  readonly triggers?: pulumi.Input<pulumi.Input<Json>[]>;
}

/**
 * A training that was submitted. Its `Model` waits for it. As they are two, the job is in the state before the wait for
 * it begins: whatever happens to the wait, no training is lost and none is run twice.
 *
 * In TypeScript a `Model` declares it itself, in other languages `TrainedModel` declares both.
 */
export class TrainingJob extends Resource {
  /** The id of the job, for `submittedJobId` of a `Model`. */
  declare readonly jobId: pulumi.Output<string>;
  declare readonly projectId: pulumi.Output<string>;

  constructor(name: string, args: TrainingJobArgs, options?: pulumi.CustomResourceOptions) {
    super(TrainingJob.lifecycle, name, args, options);
    this.jobId = this.id;
  }

  /** @internal */
  static readonly lifecycle = trainingJob;
}
