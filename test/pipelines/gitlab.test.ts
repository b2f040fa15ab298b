import { testPipelines } from "./cases";
import { GitLabShop } from "./gitlab-shop";

describe("the example pipelines for GitLab, in a new repository", () => {
  // GitLab has no job for a fork, and so no pipeline.
  testPipelines(() => GitLabShop.make(["dev", "prod"]), {});
});
