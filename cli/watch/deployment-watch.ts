import { ApiError, type Client, TokenError } from "../../client/client";
import { connect, resolveTarget } from "../../client/connect";
import { isUnreachable } from "../../client/errors";
import { isOffered } from "../../client/extensions";
import { currentServingUri, recommendItems } from "../../client/serving";
import { readSettings, relativeToProgram } from "../../client/settings";
import { routes } from "../../contract";
import { logicalName } from "../../provider/run/urn";
import { resourcesOf } from "../release/contents";
import type { Figures } from "../release/history";
import type { OpenStack, StateResource } from "../stack/open";
import { providerSettings } from "../stack/providers";
import { type Answer, Answers } from "./figures";
import { ServiceMetrics } from "./service-metrics";

/** Users who get recommendations in turn. Each answer counts as soon as it arrives. */
const maxUsers = 30;

/** Number of items in a list. Pages usually show about as many. */
const listLength = 10;

/** A call that fails is an answer, so it is not retried. */
const options = {
  retry: { budgetMs: 0, unreachableMs: 0, foreignMs: 0 },
  timeouts: { connectMs: 5000, headersMs: 10_000, bodyMs: 10_000 },
};

/** A deployment that is watched: requests recommendations for its users in turn, and measures the answers. */
export class DeploymentWatch {
  readonly #answers: Answers;
  #next = 0;

  private constructor(
    readonly name: string,
    /** Minimum time between two calls, so the watch takes at most half of the deployment's rate. */
    readonly pauseMs: number,
    readonly metrics: ServiceMetrics,
    private readonly client: Client,
    private readonly servingUri: string | undefined,
    private readonly userIds: readonly string[],
  ) {
    this.#answers = new Answers(userIds.length);
  }

  /** Connects to the service of a deployment, and chooses the users: those given, or real users of the service. */
  static async open(
    open: OpenStack,
    deployment: StateResource,
    resources: readonly StateResource[],
    given: readonly string[] | undefined,
  ): Promise<DeploymentWatch> {
    const name = logicalName(deployment.urn);
    const config = await open.config();
    const settings =
      providerSettings(deployment, resources, open) ??
      relativeToProgram(readSettings(config, open.environment), open.programDirectory);
    const { projectId, deploymentJobId, servingUri, qps, check } = deployment.outputs as {
      projectId: string;
      deploymentJobId?: string;
      servingUri?: string;
      qps?: number;
      check?: { userIds: readonly string[] };
    };
    const client = await connect(settings, options);
    try {
      const uri = await currentServingUri(client, { projectId, deploymentJobId, servingUri });
      const userIds = (given ?? (await recentUsers(client, projectId)) ?? check?.userIds ?? []).slice(
        0,
        maxUsers,
      );
      if (userIds.length === 0)
        throw new Error(
          `Deployment ${name} has no users to watch: the service lists none, and there is no check. ` +
            "List some in recommender.yaml, as promotion.stages.STACK.watch.users.",
        );
      const metrics = new ServiceMetrics(await resolveTarget(settings));
      return new DeploymentWatch(name, 2000 / (qps ?? 1), metrics, client, uri, userIds);
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  get figures(): Figures {
    return this.#answers.figures;
  }

  /** Number of users. */
  get userCount(): number {
    return this.userIds.length;
  }

  /** Requests recommendations for the next user. Returns false if the outcome says nothing about the deployment. */
  async ask(): Promise<boolean> {
    const userId = this.userIds[this.#next++ % this.userIds.length] as string;
    const began = performance.now();
    const answer = async (): Promise<Answer | undefined> => {
      try {
        const { results } = await recommendItems(this.client, { userId, limit: listLength }, this.servingUri);
        const itemIds = results.map(({ item }) => item.itemId);
        return { userId, kind: "answered", latencyMs: performance.now() - began, itemIds };
      } catch (error) {
        if (!isAboutDeployment(error)) return undefined;
        return { userId, kind: "failed", latencyMs: performance.now() - began, itemIds: [] };
      }
    };
    const found = await answer();
    if (found) this.#answers.add(found);
    return found !== undefined;
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** Opens a watch for each deployment in the state of a stack. */
export async function openDeployments(
  open: OpenStack,
  resources: readonly StateResource[],
  userIds: readonly string[] | undefined,
): Promise<DeploymentWatch[]> {
  const opened: DeploymentWatch[] = [];
  try {
    for (const deployment of resourcesOf(resources, "Deployment"))
      opened.push(await DeploymentWatch.open(open, deployment, resources, userIds));
    return opened;
  } catch (error) {
    await Promise.all(opened.map((one) => one.close()));
    throw error;
  }
}

async function recentUsers(client: Client, projectId: string): Promise<readonly string[] | undefined> {
  if (!(await isOffered(client, routes.listRecentUsers))) return undefined;
  const { userIds } = await client.call(routes.listRecentUsers, { projectId });
  return userIds.length > 0 ? userIds : undefined;
}

/**
 * Whether an error counts as an answer of the deployment. It does not if the service could not be reached, or if the
 * call exceeded the rate of the deployment. Throws if the credentials are rejected, because then the watch cannot go
 * on.
 */
function isAboutDeployment(error: unknown): boolean {
  if (error instanceof ApiError) {
    if (error.status === 401 || error.status === 403) throw error;
    return error.status !== 429;
  }
  if (error instanceof TokenError && error.refusal !== undefined) throw error;
  return !isUnreachable(error) && !(error instanceof TokenError);
}
