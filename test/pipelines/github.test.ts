import { testPipelines } from "./cases";
import { GitHubShop } from "./github-shop";

describe("the example workflows for GitHub, in a new repository", () => {
  testPipelines(() => GitHubShop.make(["dev", "prod"]), {
    "review dev": "success",
    "review prod": "success",
  });
});
