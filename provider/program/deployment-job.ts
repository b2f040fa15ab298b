import type * as pulumi from "@pulumi/pulumi";
import { deploymentJob } from "../deployment-job";
import { Resource } from "./resource";

/** What a deployment is submitted with. */
export interface DeploymentJobArgs {
  /** Id of the project that is to serve. */
  readonly projectId: pulumi.Input<string>;
  /** Name of the job; the logical name unless set. */
  readonly name?: pulumi.Input<string>;
  /** Id of the model that produces the results. */
  readonly generatorModelId: pulumi.Input<string>;
  /** Id of the model that puts the generator's results in a new order. */
  readonly rankerModelId?: pulumi.Input<string>;
  /** Queries per second that the recommendation call may use; 1 unless set. */
  readonly qps?: pulumi.Input<number>;
}

/**
 * A deployment that was submitted. Its `Deployment` waits for it. As they are two, the job is in the state before the wait
 * for it begins.
 *
 * In TypeScript a `Deployment` declares it itself, in other languages `DeployedModel` declares both.
 */
export class DeploymentJob extends Resource {
  /** The id of the job, for `submittedJobId` of a `Deployment`. */
  declare readonly jobId: pulumi.Output<string>;
  declare readonly projectId: pulumi.Output<string>;

  constructor(name: string, args: DeploymentJobArgs, options?: pulumi.CustomResourceOptions) {
    super(DeploymentJob.lifecycle, name, args, options);
  }

  /** @internal */
  static readonly lifecycle = deploymentJob;
}
