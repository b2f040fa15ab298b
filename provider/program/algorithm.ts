import type * as pulumi from "@pulumi/pulumi";
import type { G1Parameters, JsonMap } from "../../contract";
import { algorithm } from "../algorithm";
import { Resource } from "./resource";

/** Kind of algorithm. */
export type AlgorithmType = "G1";

/** What an algorithm is declared with. */
export interface AlgorithmArgs {
  /** Id of the project that owns it. */
  readonly projectId: pulumi.Input<string>;
  /** Name of the algorithm; the logical name unless set. */
  readonly name?: pulumi.Input<string>;
  /** Kind of algorithm; G1 unless set. */
  readonly algorithmType?: pulumi.Input<AlgorithmType>;
  /**
   * Parameters: those of the embedded service's G1, or whatever another service has.
   * The empty object, which is the default, lets the service choose all of them.
   */
  readonly algorithmParameters?: pulumi.Input<G1Parameters | JsonMap>;
  /** Id of an existing algorithm to adopt instead of creating one. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * A configuration from which models are trained.
 *
 * The API can neither read, change nor delete it; the service of this package reads it. Another algorithm trains its models again. The keys of
 * `algorithmParameters` are passed on as they are. Where the embedded service is configured they are checked in the
 * preview; a service at an address may have others, and says itself what it refuses.
 */
export class Algorithm extends Resource {
  /** The id, under the name that the API gives it. */
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
