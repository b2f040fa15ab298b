import * as pulumi from "@pulumi/pulumi";
import type { Json, JsonMap } from "../../contract";
import { deletedAfterReplacement, model, type Quality } from "../model";
import { Resource, siblingOptions } from "./resource";
import { TrainingJob, type TrainingJobArgs } from "./training-job";

/** What a model is declared with. */
export interface ModelArgs {
  /** Id of the project. */
  readonly projectId: pulumi.Input<string>;
  /** Id of the algorithm that is trained; not needed with existingId. */
  readonly algorithmId?: pulumi.Input<string>;
  /** Name of the model, for people only; the logical name unless set. */
  readonly name?: pulumi.Input<string>;
  /** Any values: content hashes of records, a date, a nonce. When one of them changes, the model is trained again. */
  readonly triggers?: pulumi.Input<pulumi.Input<Json>[]>;
  /** Id of an existing model to adopt instead of training one. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * A trained model.
 *
 * A `TrainingJob` submits the training, so that its id is in the state before the wait begins. In TypeScript a `Model`
 * declares that job itself, under its own name. In other languages `TrainedModel` declares both; a `Model` alone is given
 * the job as `submittedJobId`, or adopts with `existingId`.
 *
 * A model that is deployed cannot be deleted; the error says how to free it. Within one program this does not happen: the
 * deployment moves first.
 *
 * With `existingId` there is no training: `algorithmId` is refused, and in TypeScript `triggers` too. A training in its
 * place later trains a new model, and the one that was adopted is deleted.
 */
export class Model extends Resource {
  /** The id, under the name that the API gives it. */
  declare readonly modelId: pulumi.Output<string>;
  declare readonly projectId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  /** The job that trained it; an adopted model has none. */
  declare readonly trainingJobId: pulumi.Output<string | undefined>;
  /** Kind of the algorithm that it was trained with. */
  declare readonly algorithmType: pulumi.Output<string | undefined>;
  /** The parameters it was trained with. */
  declare readonly algorithmParameters: pulumi.Output<JsonMap | undefined>;
  /** What the training measured, where the service reports it. */
  declare readonly quality: pulumi.Output<Quality | undefined>;

  constructor(name: string, args: ModelArgs, given?: pulumi.CustomResourceOptions) {
    // The service deletes no model that serves, and the next one serves only once it is there.
    const { deleteBeforeReplace, ...options } = given ?? {};
    const { existingId, triggers, ...model } = args;
    if (existingId === undefined) {
      const training = { ...model, triggers: triggers ?? [] } as TrainingJobArgs;
      const job = new TrainingJob(name, training, siblingOptions(options, "Model", "TrainingJob"));
      super(Model.lifecycle, name, { ...model, submittedJobId: job.jobId }, options);
    } else super(Model.lifecycle, name, args, options);
    // Known in a preview that only renames it.
    this.modelId = this.id;
    if (deleteBeforeReplace) pulumi.log.warn(deletedAfterReplacement, this);
  }

  /** @internal */
  static readonly lifecycle = model;
}
