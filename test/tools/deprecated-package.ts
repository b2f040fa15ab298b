import type * as pulumi from "@pulumi/pulumi";
import type * as original from "../../provider";

/** Variant of the package with a deprecated symbol of each kind. */
export * from "../../provider";

interface AlgorithmArgs extends original.AlgorithmArgs {
  /**
   * Name of the algorithm.
   * @deprecated Use the logical name.
   */
  readonly name?: pulumi.Input<string>;
}

/**
 * A configuration.
 *
 * Models are trained from it.
 *
 * @deprecated Use a recipe.
 */
export declare class Algorithm extends original.Algorithm {
  /**
   * The id of the algorithm.
   * @deprecated Use `id`.
   */
  readonly algorithmId: pulumi.Output<string>;

  constructor(name: string, args: AlgorithmArgs, options?: pulumi.CustomResourceOptions);
}

/** What is tried. */
interface DeploymentCheck extends original.DeploymentCheck {
  /**
   * Results that each of them must get at least.
   * @deprecated Use `enough`.
   */
  readonly minResults?: pulumi.Input<number>;
}

interface DeploymentArgs extends original.DeploymentArgs {
  /** What is tried after each deployment. */
  readonly check?: pulumi.Input<DeploymentCheck>;
}

/** The models that serve. */
export declare class Deployment extends original.Deployment {
  constructor(name: string, args: DeploymentArgs, options?: pulumi.CustomResourceOptions);
}

/**
 * Groups of users.
 * @deprecated Use a `UserQuery`.
 */
export declare class UserClustering extends original.UserClustering {}

/**
 * Reads one model.
 * @deprecated Use `listModels`.
 */
export declare const getModel: typeof original.getModel;

interface RecommendArgs extends original.RecommendArgs {
  /**
   * Where to ask.
   * @deprecated Name a provider.
   */
  readonly servingUri?: string | undefined;
}

/** Recommends items to a user. */
export declare function recommend(args: RecommendArgs): ReturnType<typeof original.recommend>;
