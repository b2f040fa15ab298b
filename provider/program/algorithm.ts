import type * as pulumi from "@pulumi/pulumi";
import type { G1Parameters, JsonMap } from "../../contract";
import { algorithm } from "../algorithm";
import { Resource } from "./resource";

/** Type of algorithm. */
export type AlgorithmType = "G1";

/** Arguments of an `Algorithm`. */
export interface AlgorithmArgs {
  /** Id of the project that the algorithm belongs to. */
  readonly projectId: pulumi.Input<string>;
  /** Name of the algorithm. Default: the logical name. */
  readonly name?: pulumi.Input<string>;
  /** Type of algorithm. Default: G1. */
  readonly algorithmType?: pulumi.Input<AlgorithmType>;
  /**
   * Parameters of the algorithm: those of G1 in the embedded service, or those that a different service accepts.
   * Default: an empty object, so the service chooses all of them.
   */
  readonly algorithmParameters?: pulumi.Input<G1Parameters | JsonMap>;
  /** Id of an existing algorithm to adopt instead of creating one. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * The configuration that models are trained with.
 *
 * The API has no operation to read, change or delete an algorithm. The service of this package adds operations to read
 * it, and to delete it once it is orphaned. Any change creates a new algorithm, so its models are trained again.
 *
 * The keys of `algorithmParameters` are sent unchanged. With the embedded service, the preview checks them. A service
 * at an address may have other parameters, and rejects unknown parameters itself.
 */
export class Algorithm extends Resource {
  /** Same value as `id`, under the API's field name. */
  declare readonly algorithmId: pulumi.Output<string>;
  declare readonly projectId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly algorithmType: pulumi.Output<AlgorithmType>;
  declare readonly algorithmParameters: pulumi.Output<JsonMap>;

  constructor(name: string, args: AlgorithmArgs, options?: pulumi.CustomResourceOptions) {
    super(Algorithm.lifecycle, name, args, options);
    this.algorithmId = this.id;
  }

  /** @internal */
  static readonly lifecycle = algorithm;
}
