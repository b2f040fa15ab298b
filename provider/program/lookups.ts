import { isAbsolute, relative } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { type Recommendation, type RecommendationInput, recommendItems } from "../../client/serving";
import { besideProgram, readSettings } from "../../client/settings";
import { type Input as CallInput, type Reply, type Route, routes } from "../../contract";
import { openSession } from "../run/session";
import { checkConfiguration } from "./program-check";

/** Reads something of the service from within a program; with `Output`, from arguments that are outputs. */
type Lookup<Args, Result> = (args: Args) => Promise<Result>;

/** The same lookup for arguments that may be outputs. */
type LookupOutput<Args, Result> = (
  args: pulumi.Input<{ [K in keyof Args]: pulumi.Input<Args[K]> }>,
) => pulumi.Output<Result>;

async function session() {
  checkConfiguration();
  const config = new pulumi.Config("recommender");
  const settings = readSettings((key) => config.get(key));
  const root = pulumi.runtime.getRootDirectory();
  // The providers run in the folder of the program; a program within another process runs in the folder of that.
  // Where the language host does not say where the root is, the SDK answers with the word `rootDirectory`.
  const isInside = !isAbsolute(root) || !relative(root, process.cwd()).startsWith("..");
  return openSession(isInside ? settings : besideProgram(settings, root));
}

function lookup<R extends Route>(route: R): Lookup<CallInput<R>, Reply<R>> {
  return async (args) => (await session()).client.call(route, args);
}

function outputForm<Args, Result>(from: Lookup<Args, Result>): LookupOutput<Args, Result> {
  return (args) =>
    pulumi
      .output(args)
      .apply((known) => from(known as Args)) as pulumi.Output<unknown> as pulumi.Output<Result>;
}

/** Reads one event dataset. */
export const getEventDataset = lookup(routes.getEventDataset);
/** Reads one event dataset. */
export const getEventDatasetOutput = outputForm(getEventDataset);

/** Lists the event datasets of the account. */
export const listEventDatasets = () => lookup(routes.listEventDatasets)({});
/** Lists the event datasets of the account. */
export const listEventDatasetsOutput = () => pulumi.output(listEventDatasets());

/** Reads one model. */
export const getModel = lookup(routes.getModel);
/** Reads one model. */
export const getModelOutput = outputForm(getModel);

/** Lists the models of a project. */
export const listModels = lookup(routes.listModels);
/** Lists the models of a project. */
export const listModelsOutput = outputForm(listModels);

/** Reads one job. */
export const getJob = lookup(routes.getJob);
/** Reads one job. */
export const getJobOutput = outputForm(getJob);

/** What is asked of `recommend`. */
export type RecommendArgs = RecommendationInput & {
  /** Address of the project's recommendation service; needed where several projects serve. */
  readonly servingUri?: string | undefined;
};

/** Recommends items to a user. */
export async function recommend({ servingUri, ...input }: RecommendArgs): Promise<Recommendation> {
  return recommendItems((await session()).client, input, servingUri);
}
/** Recommends items to a user. */
export const recommendOutput = outputForm(recommend);
