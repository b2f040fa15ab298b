import type * as pulumi from "@pulumi/pulumi";
import { deployment } from "../deployment";
import { DeploymentJob, type DeploymentJobArgs } from "./deployment-job";
import { Resource, siblingOptions } from "./resource";

/** What is tried after a switch to other models. */
export interface DeploymentCheck {
  /** Users for whom recommendations are asked. */
  readonly userIds: pulumi.Input<pulumi.Input<string>[]>;
  /** Results that each of them must get at least; 1 unless set. */
  readonly minResults?: pulumi.Input<number>;
  /** Time that each response may take at most; not checked unless set. */
  readonly maxLatencyMs?: pulumi.Input<number>;
}

/** What a deployment is declared with. */
export interface DeploymentArgs extends DeploymentJobArgs {
  /** What is tried after each deployment, and by a refresh; nothing unless set. */
  readonly check?: pulumi.Input<DeploymentCheck>;
  /** Whether a check that fails puts the former models back; false unless set. */
  readonly rollback?: pulumi.Input<boolean>;
  /** Id of a project whose existing deployment to adopt instead of creating one. */
  readonly existingId?: pulumi.Input<string>;
}

/** The models that serve a project's recommendation call. */
export class Deployment extends Resource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly generatorModelId: pulumi.Output<string>;
  declare readonly rankerModelId: pulumi.Output<string | undefined>;
  declare readonly qps: pulumi.Output<number>;
  /** Address under which the project's recommendations are called for; that of the service, unless it reports another. */
  declare readonly servingUri: pulumi.Output<string>;
  /** The job that deployed it; undefined for an adopted deployment. */
  declare readonly deploymentJobId: pulumi.Output<string | undefined>;

  constructor(name: string, args: DeploymentArgs, options?: pulumi.CustomResourceOptions) {
    const { check: _, rollback: __, existingId, ...submitted } = args;
    const beside = siblingOptions(options, "Deployment", "DeploymentJob");
    const submittedJobId =
      existingId === undefined ? new DeploymentJob(name, submitted, beside).jobId : undefined;
    super(Deployment.lifecycle, name, { ...args, submittedJobId }, options);
  }

  /** @internal */
  static readonly lifecycle = deployment;
}
