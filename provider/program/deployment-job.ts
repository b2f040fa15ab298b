import type * as pulumi from "@pulumi/pulumi";
import { deploymentJob } from "../deployment-job";
import { Resource } from "./resource";

/** Arguments of a `DeploymentJob`. */
export interface DeploymentJobArgs {
  /** Id of the project to deploy models in. */
  readonly projectId: pulumi.Input<string>;
  /** Name of the job. Default: the logical name. */
  readonly name?: pulumi.Input<string>;
  /** Id of the model that finds the items to recommend. */
  readonly generatorModelId: pulumi.Input<string>;
  /** Id of the model that reorders the items that the generator model finds. Default: no reordering. */
  readonly rankerModelId?: pulumi.Input<string>;
  /** Maximum number of recommendation calls per second. Default: 1. */
  readonly qps?: pulumi.Input<number>;
}

/**
 * A submitted deployment job. A `Deployment` waits for it. The job is a separate resource, so its id is in the state
 * before the wait for it begins.
 *
 * In TypeScript, `Deployment` declares this job for you. In other languages, `DeployedModel` declares both resources.
 */
export class DeploymentJob extends Resource {
  /** Id of the job. Pass it to a `Deployment` as `submittedJobId`. */
  declare readonly jobId: pulumi.Output<string>;
  declare readonly projectId: pulumi.Output<string>;

  constructor(name: string, args: DeploymentJobArgs, options?: pulumi.CustomResourceOptions) {
    super(DeploymentJob.lifecycle, name, args, options);
  }

  /** @internal */
  static readonly lifecycle = deploymentJob;
}
