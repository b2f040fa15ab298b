import * as pulumi from "@pulumi/pulumi";
import type { Json, JsonMap } from "../../contract";
import { deletedAfterReplacement, model } from "../model";
import type { Quality } from "../model-quality";
import { jobOptions, Resource } from "./resource";
import { TrainingJob, type TrainingJobArgs } from "./training-job";

/** Arguments of a `Model`. */
export interface ModelArgs {
  /** Id of the project. */
  readonly projectId: pulumi.Input<string>;
  /** Id of the algorithm to train with. Leave it out if you set `existingId`. */
  readonly algorithmId?: pulumi.Input<string>;
  /** Display name of the model. Default: the logical name. */
  readonly name?: pulumi.Input<string>;
  /** Any values, such as content hashes of records, a date or a nonce. If one changes, the model is trained again. */
  readonly triggers?: pulumi.Input<pulumi.Input<Json>[]>;
  /** Id of an existing model to adopt instead of training one. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * A trained model.
 *
 * A `TrainingJob` submits the training, so the id of the job is in the state before the wait for the job begins. In
 * TypeScript, `Model` declares that job for you, with the same name. In other languages, `TrainedModel` declares both.
 * If you declare them separately, pass the `jobId` of the `TrainingJob` to the `Model` as `submittedJobId`. To adopt a
 * model, set `existingId` instead.
 *
 * You cannot delete a deployed model; the error explains what to do first. If the same program deploys the model, this
 * does not happen, because the deployment switches to another model before the old one is deleted.
 *
 * With `existingId` nothing is trained: `algorithmId` is rejected, and in TypeScript `triggers` too. If you later
 * remove `existingId`, a new model is trained and the adopted one is deleted.
 */
export class Model extends Resource {
  /** Same value as `id`, under the API's field name. */
  declare readonly modelId: pulumi.Output<string>;
  declare readonly projectId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  /** Id of the training job. An adopted model has none. */
  declare readonly trainingJobId: pulumi.Output<string | undefined>;
  /** Type of the algorithm. */
  declare readonly algorithmType: pulumi.Output<string | undefined>;
  /** Parameters that the model was trained with. */
  declare readonly algorithmParameters: pulumi.Output<JsonMap | undefined>;
  /** Quality of the model, if the service reports it. */
  declare readonly quality: pulumi.Output<Quality | undefined>;

  constructor(name: string, args: ModelArgs, given?: pulumi.CustomResourceOptions) {
    // The option is dropped, because the service cannot delete a live model, and the new model goes live only after it
    // was created.
    const { deleteBeforeReplace, ...options } = given ?? {};
    const { existingId, triggers, ...model } = args;
    if (existingId === undefined) {
      const training = { ...model, triggers: triggers ?? [] } as TrainingJobArgs;
      const job = new TrainingJob(name, training, jobOptions(options, "Model", "TrainingJob"));
      super(Model.lifecycle, name, { ...model, submittedJobId: job.jobId }, options);
    } else super(Model.lifecycle, name, args, options);
    // In a preview, the provider's output would be unknown. The id is known if the model exists and is not replaced.
    this.modelId = this.id;
    if (deleteBeforeReplace) pulumi.log.warn(deletedAfterReplacement, this);
  }

  /** @internal */
  static readonly lifecycle = model;
}
