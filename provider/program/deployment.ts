import * as pulumi from "@pulumi/pulumi";
import { deployment } from "../deployment";
import { type Pinned, pinnedIn } from "../run/pinned";
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

/**
 * The models that serve a project's recommendation call.
 *
 * - A project has one deployment. Declare it once: a second one is refused, by the preview where the project's id is known.
 * - Other models are deployed by another job in place: there is no gap in serving. After the job its record is compared
 *   with what was asked; a difference is an error.
 * - `check` runs after each deployment, and pauses between users as `qps` asks. When it fails at the first deployment
 *   there is nothing to go back to: the deployment is kept in the state, and every `pulumi up` runs the check again, and
 *   fails, until it passes.
 * - With `rollback`, a failed check of a later deployment puts the former models back by a job of its own, and the update
 *   fails with both reasons. The next `pulumi up` tries the new models again.
 * - A refresh asks for one recommendation, if there is a `check`. The service of this package also reports which models
 *   serve. If the project does not serve, the deployment counts as gone, and the next `pulumi up` creates it again. On a
 *   service that does not report it, a deployment without a `check` is assumed to exist.
 * - Deleting it shuts it down. That it was shut down before is no error.
 *
 * A `DeploymentJob` submits the deployment. In TypeScript a `Deployment` declares that job itself, under its own name. In
 * other languages `DeployedModel` declares both; a `Deployment` alone is given the job as `submittedJobId`, or adopts with
 * `existingId`.
 */
export class Deployment extends Resource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly generatorModelId: pulumi.Output<string>;
  declare readonly rankerModelId: pulumi.Output<string | undefined>;
  declare readonly qps: pulumi.Output<number>;
  /** Address under which the project's recommendations are called for; that of the service, unless it reports another. */
  declare readonly servingUri: pulumi.Output<string>;
  /**
   * Address under which the stack serves, whichever project does: it stays the same when the project is replaced. The
   * service of this package has it, unless `recommender:tellOrigin` is false; others may not.
   */
  declare readonly stableServingUri: pulumi.Output<string | undefined>;
  /** The job that deployed it; an adopted deployment has none. */
  declare readonly deploymentJobId: pulumi.Output<string | undefined>;

  constructor(name: string, args: DeploymentArgs, options?: pulumi.CustomResourceOptions) {
    const { check, rollback, existingId, ...asked } = args;
    const submitted = withoutModels(asked, pinnedHere(name));
    const beside = siblingOptions(options, "Deployment", "DeploymentJob");
    const submittedJobId =
      existingId === undefined ? new DeploymentJob(name, submitted, beside).jobId : undefined;
    super(Deployment.lifecycle, name, { ...submitted, check, rollback, existingId, submittedJobId }, options);
  }

  /** @internal */
  static readonly lifecycle = deployment;
}

function pinnedHere(name: string): Pinned | undefined {
  return pinnedIn((key) => new pulumi.Config("recommender").get(key), name);
}

/** What is pinned must not wait for the program's models, nor fail with them: the lifecycle would replace them too late. */
function withoutModels(asked: DeploymentJobArgs, pinned: Pinned | undefined): DeploymentJobArgs {
  if (!pinned) return asked;
  const { rankerModelId: _, ...others } = asked;
  return { ...others, ...pinned };
}
