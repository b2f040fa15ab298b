import type * as pulumi from "@pulumi/pulumi";
import { project } from "../project";
import { Resource } from "./resource";

/** What a project recommends. */
export type ProjectType = "RECOMMEND_ITEMS_TO_USER";

/** What a project is declared with. */
export interface ProjectArgs {
  /** Name of the project; the logical name unless set. */
  readonly name?: pulumi.Input<string>;
  /** What the project recommends; RECOMMEND_ITEMS_TO_USER unless set. */
  readonly projectType?: pulumi.Input<ProjectType>;
  /** Id of the dataset of its users. */
  readonly userDatasetId: pulumi.Input<string>;
  /** Id of the dataset of its items. */
  readonly itemDatasetId: pulumi.Input<string>;
  /** Id of the dataset of its events; several projects may share one. */
  readonly eventDatasetId: pulumi.Input<string>;
  /** The event type that models are optimised for. */
  readonly targetEventType: pulumi.Input<string>;
  /** Id of an existing project to adopt instead of creating one. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * A use of one user, one item and one event dataset.
 *
 * The API can neither read, change nor delete it; the service of this package reads it. Another project means other algorithms, models and deployments: it
 * trains again.
 */
export class Project extends Resource {
  /** The id, under the name that the API gives it. */
  declare readonly projectId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly projectType: pulumi.Output<ProjectType>;
  declare readonly userDatasetId: pulumi.Output<string>;
  declare readonly itemDatasetId: pulumi.Output<string>;
  declare readonly eventDatasetId: pulumi.Output<string>;
  declare readonly targetEventType: pulumi.Output<string>;
  /** Address of the project's recommendation service, where the service reports it. */
  declare readonly servingUri: pulumi.Output<string | undefined>;

  constructor(name: string, args: ProjectArgs, options?: pulumi.CustomResourceOptions) {
    super(Project.lifecycle, name, args, options);
    this.projectId = this.id;
  }

  /** @internal */
  static readonly lifecycle = project;
}
