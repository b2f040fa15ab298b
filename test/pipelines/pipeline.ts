import type { Host } from "../cli/comment/hosts";
import type { ShopRepository, StackName } from "./shop-repository";

/** How a job ended. A job that waits for an approval has not run. */
export type Conclusion = "success" | "failure" | "waiting" | "killed";

/** Result of a job. */
export interface PipelineJob {
  readonly conclusion: Conclusion;
  /** Output of the scripts. */
  readonly printed: string;
  /** What the page of the job shows: the summary on GitHub, the log on GitLab. */
  readonly report: string;
  /** SARIF files that the host has received. */
  readonly findings: readonly string[];
}

/** Expected end of each job, by its name without the parts that depend on the host. */
export type Expected = Readonly<Record<string, Conclusion>>;

/** Jobs of a pipeline, by the same names. */
export type Jobs = Readonly<Record<string, PipelineJob>>;

/** What starts a pipeline. */
export type Start =
  | { readonly on: "push" }
  | { readonly on: "pull request"; readonly branch: string; readonly isFork?: true }
  | { readonly on: "morning" }
  | { readonly on: "night" }
  | { readonly on: "promotion"; readonly from: StackName; readonly to: StackName; readonly unlock?: true };

/** Repository with the example pipelines of a host, and with two stacks, of which `prod` needs an approval. */
export interface PipelineShop {
  readonly repository: ShopRepository;
  readonly host: Host;
  /** Name under which the host commits. */
  readonly committer: string;
  /** Runs the pipelines that an event starts. Its jobs must end as expected, and must not show secrets. */
  run(start: Start, expected: Expected): Promise<Jobs>;
  /** Approves promotions to prod. */
  approve(login: string): void;
  /** Kills the scripts that run now, with all their processes. Their jobs end, as if their machines were lost. */
  killRunning(): void;
  dispose(): Promise<void>;
}

/** Returns the jobs, after checking how they ended and that their output contains no secrets. */
export function expectEnds(jobs: Jobs, expected: Expected, secrets: readonly string[]): Jobs {
  for (const [name, { conclusion, printed, report }] of Object.entries(jobs)) {
    if (expected[name] !== conclusion) throw new Error(`${name} ended with ${conclusion}:\n${printed}`);
    for (const secret of secrets) expect(printed + report).not.toContain(secret);
  }
  expect(Object.keys(jobs)).toEqual(Object.keys(expected));
  return jobs;
}
