import { isAbsolute, relative } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import type { Recommendation } from "../../client/serving";
import { readSettings, relativeToProgram } from "../../client/settings";
import type { Input as CallInput, Reply } from "../../contract";
import { lookUp, type lookups, type RecommendArgs } from "../lookups";
import { maskingSecrets } from "../run/secrecy";
import { openSession } from "../run/session";
import { currentBinding, tokenOf } from "./binding";
import { checkConfiguration, discreetly } from "./program-check";

/** Function that reads from the service. The option `provider` selects a service other than the configured one. */
type Lookup<Args, Result> = (args: Args, options?: pulumi.InvokeOptions) => Promise<Result>;

/** Lookup with arguments that may be outputs. */
type LookupOutput<Args, Result> = (
  args: pulumi.Input<{ [K in keyof Args]: pulumi.Input<Args[K]> }>,
  options?: pulumi.InvokeOptions,
) => pulumi.Output<Result>;

async function session() {
  checkConfiguration(currentBinding());
  const config = new pulumi.Config("recommender");
  const settings = readSettings((key) => config.get(key));
  const root = pulumi.runtime.getRootDirectory();
  // Providers run in the program's directory. An inline program runs in the directory of the process that contains it.
  // If the language host does not report the root directory, the SDK returns the word `rootDirectory`.
  const isInside = !isAbsolute(root) || !relative(root, process.cwd()).startsWith("..");
  return openSession(isInside ? settings : relativeToProgram(settings, root));
}

type Name = keyof typeof lookups;

async function ask(name: Name, args: object, options: pulumi.InvokeOptions = {}): Promise<object> {
  const hasProvider = options.provider !== undefined || options.parent !== undefined;
  return hasProvider && currentBinding() === "plugin"
    ? pulumi.runtime.invoke(tokenOf(name, "plugin"), args, options)
    : discreetly(async () => lookUp((await session()).client, name, args, (text) => pulumi.log.warn(text)));
}

function lookup<N extends Name>(name: N): Lookup<CallInput<(typeof lookups)[N]>, Reply<(typeof lookups)[N]>> {
  return async (args, options) => (await ask(name, args, options)) as Reply<(typeof lookups)[N]>;
}

function outputForm<Args, Result>(from: Lookup<Args, Result>): LookupOutput<Args, Result> {
  return (args, options) => {
    const given = pulumi.output(args);
    const answer = given.apply(async (known) => {
      const secrets = (await pulumi.isSecret(given)) ? [{ ...(known as object) }] : [];
      return maskingSecrets(secrets, () => from(known as Args, options));
    });
    return answer as pulumi.Output<unknown> as pulumi.Output<Result>;
  };
}

/** Reads one event dataset. Fails if it does not exist. */
export const getEventDataset = lookup("getEventDataset");
/** Reads one event dataset. */
export const getEventDatasetOutput = outputForm(getEventDataset);

/** Lists the event datasets of the account. */
export const listEventDatasets = (options?: pulumi.InvokeOptions) => lookup("listEventDatasets")({}, options);
/** Lists the event datasets of the account. */
export const listEventDatasetsOutput = (options?: pulumi.InvokeOptions) =>
  pulumi.output(listEventDatasets(options));

/** Reads one model. Fails if it does not exist. */
export const getModel = lookup("getModel");
/** Reads one model. */
export const getModelOutput = outputForm(getModel);

/** Lists the models that a project has now, without the models that this run will train. */
export const listModels = lookup("listModels");
/** Lists the models of a project. */
export const listModelsOutput = outputForm(listModels);

/** Reads one job. Fails if it does not exist. */
export const getJob = lookup("getJob");
const openJobOutput = outputForm(getJob);
/** Reads one job. The output is secret if it contains a download URL, because that URL needs no credentials. */
export const getJobOutput: typeof openJobOutput = (args, options) =>
  openJobOutput(args, options).apply((job) =>
    job.jobResult?.downloadUrl == null ? pulumi.output(job) : pulumi.secret(job),
  ) as ReturnType<typeof openJobOutput>;

export type { RecommendArgs } from "../lookups";

/** Recommends items to a user. The result has no explanations (`basis` and `why`). */
export async function recommend(
  args: RecommendArgs,
  options?: pulumi.InvokeOptions,
): Promise<Recommendation> {
  return (await ask("recommend", args, options)) as Recommendation;
}
/** Recommends items to a user. */
export const recommendOutput = outputForm(recommend);
