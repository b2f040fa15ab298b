import type * as pulumi from "@pulumi/pulumi";
import type { Json } from "../../contract";
import { trainingJob } from "../training-job";
import { Resource } from "./resource";

/** Arguments of a `TrainingJob`. */
export interface TrainingJobArgs {
  /** Id of the project. */
  readonly projectId: pulumi.Input<string>;
  /** Id of the algorithm to train with. */
  readonly algorithmId: pulumi.Input<string>;
  /** Name of the job and of its model. Default: the logical name. */
  readonly name?: pulumi.Input<string>;
  /** Any values, such as content hashes of records, a date or a nonce. If one changes, the model is trained again. */
  readonly triggers?: pulumi.Input<pulumi.Input<Json>[]>;
}

/**
 * A submitted training job. A `Model` waits for it. The job is a separate resource, so its id is in the state before
 * the wait for it begins. If the wait is interrupted, no training job is lost or submitted again.
 *
 * In TypeScript, `Model` declares this job for you. In other languages, `TrainedModel` declares both resources.
 */
export class TrainingJob extends Resource {
  /** Id of the job. Pass it to a `Model` as `submittedJobId`. */
  declare readonly jobId: pulumi.Output<string>;
  declare readonly projectId: pulumi.Output<string>;

  constructor(name: string, args: TrainingJobArgs, options?: pulumi.CustomResourceOptions) {
    super(TrainingJob.lifecycle, name, args, options);
    this.jobId = this.id;
  }

  /** @internal */
  static readonly lifecycle = trainingJob;
}
