import { isObject } from "../../contract/field";
import type { Comment, Comments } from "./comments";
import { HostClient } from "./host-client";

const pageSize = 100;

/** A merge request on GitLab. */
export interface GitLabMergeRequest {
  /** Address of the API. */
  readonly api: string;
  /** Id or path of the project. */
  readonly project: string;
  readonly number: number;
  readonly token: string;
}

/** Returns the comments on a merge request of GitLab. */
export function gitlabComments({ api, project, number, token }: GitLabMergeRequest): Comments {
  const client = new HostClient("GitLab", api, { "private-token": token }, token, advice);
  const notes = `/projects/${encodeURIComponent(project)}/merge_requests/${number}/notes`;
  return {
    host: "GitLab",
    maxCharacters: 1_000_000,
    async find(marker) {
      // Anybody can write a comment with the marker, and its author could later change what the review says.
      const account = await client.call("GET", "/user");
      const own = isObject(account) ? account.id : undefined;
      for (let page = 1; ; page++) {
        const path = `${notes}?per_page=${pageSize}&page=${page}&sort=asc&order_by=created_at`;
        const list = (await client.call("GET", path)) as Note[];
        const found = list.find(({ body, author }) => body.includes(marker) && author?.id === own);
        if (found) return commentOf(found);
        if (list.length < pageSize) return undefined;
      }
    },
    create: async (body) => commentOf((await client.call("POST", notes, { body })) as Note),
    edit: async (id, body) => commentOf((await client.call("PUT", `${notes}/${id}`, { body })) as Note),
    remove: async (id) => void (await client.call("DELETE", `${notes}/${id}`)),
  };
}

interface Note {
  readonly id: number;
  readonly body: string;
  readonly author?: { readonly id?: unknown } | null;
}

function commentOf({ id, body }: Note): Comment {
  return { id: String(id), body };
}

function advice(status: number): string {
  if (status === 401) return "Set GITLAB_COMMENT_TOKEN to a valid project access token with the scope api.";
  return "Check the project and the number, and give GITLAB_COMMENT_TOKEN the scope api and the role Reporter.";
}
