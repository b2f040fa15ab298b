import type * as pulumi from "@pulumi/pulumi";
import { project } from "../project";
import { Resource } from "./resource";

/** What a project recommends. */
export type ProjectType = "RECOMMEND_ITEMS_TO_USER";

/** Arguments of a `Project`. */
export interface ProjectArgs {
  /** Name of the project. Default: the logical name. */
  readonly name?: pulumi.Input<string>;
  /** What the project recommends. Default: RECOMMEND_ITEMS_TO_USER. */
  readonly projectType?: pulumi.Input<ProjectType>;
  /** Id of the user dataset. */
  readonly userDatasetId: pulumi.Input<string>;
  /** Id of the item dataset. */
  readonly itemDatasetId: pulumi.Input<string>;
  /** Id of the event dataset. Several projects can share it. */
  readonly eventDatasetId: pulumi.Input<string>;
  /** Event type that models are optimised for. */
  readonly targetEventType: pulumi.Input<string>;
  /** Id of an existing project to adopt instead of creating one. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * A combination of a user dataset, an item dataset and an event dataset that models are trained on.
 *
 * The API has no operation to read, change or delete a project. The service of this package adds operations to read it,
 * and to delete it once it is orphaned. A change creates a new project with new algorithms, models and deployments, so
 * its models are trained again.
 */
export class Project extends Resource {
  /** Same value as `id`, under the API's field name. */
  declare readonly projectId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly projectType: pulumi.Output<ProjectType>;
  declare readonly userDatasetId: pulumi.Output<string>;
  declare readonly itemDatasetId: pulumi.Output<string>;
  declare readonly eventDatasetId: pulumi.Output<string>;
  declare readonly targetEventType: pulumi.Output<string>;
  /** Address for the project's recommendation calls, if the service reports one. */
  declare readonly servingUri: pulumi.Output<string | undefined>;

  constructor(name: string, args: ProjectArgs, options?: pulumi.CustomResourceOptions) {
    super(Project.lifecycle, name, args, options);
    this.projectId = this.id;
  }

  /** @internal */
  static readonly lifecycle = project;
}
