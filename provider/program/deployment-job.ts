import type * as pulumi from "@pulumi/pulumi";
import { deploymentJob } from "../deployment-job";
import { Resource } from "./resource";

/** A rule that multiplies the scores of some items. */
export interface FactorRule {
  /** Expression in CEL, such as `item.margin > 0.4`. It reads attributes of `item` and of `user`. */
  readonly when: pulumi.Input<string>;
  /** Factor for the scores: above 1 in `boost`, below 1 in `bury`. */
  readonly factor: pulumi.Input<number>;
}

/** A rule that pins an item to a position. */
export interface PinRule {
  /** Id of the item. */
  readonly itemId: pulumi.Input<string>;
  /** Position in the list. The first is 1. */
  readonly position: pulumi.Input<number>;
  /** Expression. The item is pinned while it is true. Default: always. */
  readonly when?: pulumi.Input<string>;
}

/** A rule that limits how many items have the same value of an attribute. */
export interface LimitRule {
  /** Item attribute, such as a brand. */
  readonly attribute: pulumi.Input<string>;
  /** Maximum number of items with the same value. */
  readonly max: pulumi.Input<number>;
}

/** Rules that apply to every recommendation of a deployment. */
export interface DeploymentRules {
  /** Expression. Only items for which it is true are recommended. Default: all items. */
  readonly filter?: pulumi.Input<string>;
  /** Items to move up. */
  readonly boost?: pulumi.Input<pulumi.Input<FactorRule>[]>;
  /** Items to move down. */
  readonly bury?: pulumi.Input<pulumi.Input<FactorRule>[]>;
  /** Items to put at fixed positions. */
  readonly pin?: pulumi.Input<pulumi.Input<PinRule>[]>;
  /** Limits on items with the same value of an attribute. */
  readonly limitPer?: pulumi.Input<pulumi.Input<LimitRule>[]>;
}

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
  /**
   * Which items to recommend, to prefer, to pin and to limit. Only services that list this extension support it.
   * Default: no rules.
   */
  readonly rules?: pulumi.Input<DeploymentRules>;
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
