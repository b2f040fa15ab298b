import * as pulumi from "@pulumi/pulumi";
import { deployment } from "../deployment";
import { type Pinned, pinnedIn } from "../run/pinned";
import { DeploymentJob, type DeploymentJobArgs, type DeploymentRules } from "./deployment-job";
import { jobOptions, Resource } from "./resource";

/** Check of a deployment, which requests recommendations. */
export interface DeploymentCheck {
  /** Users to request recommendations for. */
  readonly userIds: pulumi.Input<pulumi.Input<string>[]>;
  /** Minimum number of results for each user. Default: 1. */
  readonly minResults?: pulumi.Input<number>;
  /** Maximum response time in milliseconds. Default: no limit. */
  readonly maxLatencyMs?: pulumi.Input<number>;
  /**
   * Expression that the results must match, for example that they are in stock. Only services that list this extension
   * support it. Default: all items.
   */
  readonly filterQuery?: pulumi.Input<string>;
}

/** Arguments of a `Deployment`. */
export interface DeploymentArgs extends DeploymentJobArgs {
  /** Check that runs after each deployment and during a refresh. Default: no check. */
  readonly check?: pulumi.Input<DeploymentCheck>;
  /** Whether a failed check restores the previous models. Default: false. */
  readonly rollback?: pulumi.Input<boolean>;
  /** Id of a project whose existing deployment is adopted, instead of creating one. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * The live models of a project, which answer its recommendation calls.
 *
 * - A project has one deployment, so declare it once. A second declaration is an error. The preview reports it if the
 *   project's id is known.
 * - New models are deployed in place, without a gap. When the deployment job has ended, the provider reads the job from
 *   the service and compares it with the arguments. A difference is an error.
 * - `check` runs after each deployment, and pauses between users to respect `qps`. If the check of the first deployment
 *   fails, there are no previous models to roll back to. The deployment stays in the state, and every `pulumi up`
 *   repeats the check until it passes.
 * - With `rollback`, a failed check of a later deployment restores the previous models with a separate job. The update
 *   still fails, and the error contains the outcome of the rollback. The next `pulumi up` tries the new models again.
 * - A refresh runs the `check`, without its time limit. The service of this package also reports which models are live.
 *   If the service itself reports that nothing is deployed, or returns too few results, the deployment counts as
 *   deleted, and the next `pulumi up` creates it again. If something else responds, such as a gateway, the deployment
 *   stays in the state and `recommender drift` reports `not serving`. If there is no `check` and the service does not
 *   report the live models, the deployment is assumed to exist.
 * - `rules` choose and order what every call recommends. A change deploys again, without a training. If the datasets
 *   declare an `attributeSchema`, the preview rejects expressions that read other attributes or compare different types.
 *   The service of this package supports rules; others may not, and the preview fails then.
 * - Deleting the resource shuts down the deployment. It is not an error if the deployment was already shut down.
 *
 * A `DeploymentJob` submits the deployment. In TypeScript, `Deployment` declares that job for you, with the same name.
 * In other languages, `DeployedModel` declares both. If you declare them separately, pass the `jobId` of the
 * `DeploymentJob` to the `Deployment` as `submittedJobId`. To adopt a deployment, set `existingId` instead.
 */
export class Deployment extends Resource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly generatorModelId: pulumi.Output<string>;
  declare readonly rankerModelId: pulumi.Output<string | undefined>;
  declare readonly qps: pulumi.Output<number>;
  /**
   * Address for the project's recommendation calls: the service's address, unless the service reports a different one.
   */
  declare readonly servingUri: pulumi.Output<string>;
  /**
   * Address for recommendation calls that stays the same when the stack replaces its project. The service of this
   * package provides it, unless `recommender:tellOrigin` is false. Other services may not.
   */
  declare readonly stableServingUri: pulumi.Output<string | undefined>;
  /** Id of the deployment job. An adopted deployment has none. */
  declare readonly deploymentJobId: pulumi.Output<string | undefined>;

  constructor(name: string, args: DeploymentArgs, options?: pulumi.CustomResourceOptions) {
    const { check, rollback, existingId, ...asked } = args;
    const submitted = withoutModels(asked, pinnedModels(name));
    const submittedJobId =
      existingId === undefined
        ? new DeploymentJob(name, submitted, jobOptions(options, "Deployment", "DeploymentJob")).jobId
        : undefined;
    super(Deployment.lifecycle, name, { ...submitted, check, rollback, existingId, submittedJobId }, options);
  }

  /** @internal */
  static readonly lifecycle = deployment;
}

function pinnedModels(name: string): Pinned | undefined {
  return pinnedIn((key) => new pulumi.Config("recommender").get(key), name);
}

/**
 * Replaces the program's models with pinned ones, so a pinned deployment does not wait for the program's models or fail
 * with them.
 */
function withoutModels(asked: DeploymentJobArgs, pinned: Pinned | undefined): DeploymentJobArgs {
  if (!pinned) return asked;
  const { rankerModelId: _, rules, ...others } = asked;
  const { rules: kept = rules, ...models } = pinned;
  return { ...others, ...models, ...(kept && { rules: kept as pulumi.Input<DeploymentRules> }) };
}
