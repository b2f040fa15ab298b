import { isObject } from "../../contract/field";
import type { Comment, Comments } from "./comments";
import { HostClient, HostError } from "./host-client";

const pageSize = 100;

/** A pull request on GitHub. */
export interface GitHubPull {
  /** Address of the API. */
  readonly api: string;
  /** Repository, as OWNER/NAME. */
  readonly repository: string;
  readonly number: number;
  readonly token: string;
}

/** Returns the comments on a pull request of GitHub. */
export function githubComments({ api, repository, number, token }: GitHubPull): Comments {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
  };
  const client = new HostClient("GitHub", api, headers, token, advice);
  const comments = `/repos/${repository}/issues`;
  return {
    host: "GitHub",
    maxCharacters: 65_536,
    async find(marker) {
      const isOwn = await ownership(client);
      for (let page = 1; ; page++) {
        const path = `${comments}/${number}/comments?per_page=${pageSize}&page=${page}`;
        const list = (await client.call("GET", path)) as GitHubComment[];
        const found = list.find((comment) => comment.body?.includes(marker) && isOwn(comment));
        if (found) return commentOf(found);
        if (list.length < pageSize) return undefined;
      }
    },
    create: async (body) =>
      commentOf((await client.call("POST", `${comments}/${number}/comments`, { body })) as GitHubComment),
    edit: async (id, body) =>
      commentOf((await client.call("PATCH", `${comments}/comments/${id}`, { body })) as GitHubComment),
    remove: async (id) => void (await client.call("DELETE", `${comments}/comments/${id}`)),
  };
}

interface GitHubComment {
  readonly id: number;
  readonly body?: string | null;
  readonly html_url?: string;
  readonly user?: { readonly login?: string; readonly type?: string } | null;
}

function commentOf({ id, body, html_url }: GitHubComment): Comment {
  return { id: String(id), body: body ?? "", url: html_url };
}

/**
 * Returns a test for comments of the token's account. Anybody can write a comment with the marker, and its author could
 * later change what the review says. The token of a workflow cannot read its own account, but that account is always a
 * bot.
 */
async function ownership(client: HostClient): Promise<(comment: GitHubComment) => boolean> {
  try {
    const account = await client.call("GET", "/user");
    const login = isObject(account) ? account.login : undefined;
    return ({ user }) => user?.login === login;
  } catch (error) {
    if (!(error instanceof HostError) || error.status !== 403 || error.retryAfterMs !== undefined)
      throw error;
    return ({ user }) => user?.type === "Bot";
  }
}

function advice(status: number): string {
  if (status === 401) return "Set GITHUB_TOKEN to a valid token.";
  if (status === 403 || status === 404)
    return "Check the repository and the number, and give the workflow `permissions: pull-requests: write`.";
  return "Check the number of the pull request.";
}
