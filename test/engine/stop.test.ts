import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "../../contract";
import { fixed } from "../faults/program";
import { trainedProject } from "../provider/trained-project";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

let observed: ObservedService;
let workspace: EngineWorkspace;

beforeAll(async () => {
  observed = await ObservedService.start({ faults: true });
  const { projectId } = await trainedProject(observed);
  const { algorithmId } = await observed.call(routes.createAlgorithm, {
    ...{ projectId, name: "g1", algorithmParameters: { dimensions: 4, ...fixed } },
  });
  const program = `
    import * as recommender from "pulumi-recommender";
    new recommender.Model("weekly", { projectId: "${projectId}", algorithmId: "${algorithmId}" });
  `;
  workspace = await engineWorkspace(program, observed.environment);
});
afterAll(async () => {
  await workspace.dispose();
  await observed.close();
});

test("Ctrl+C ends the wait for a training that never ends, and the next run resumes it", async () => {
  await observed.holdJobs();
  observed.calls();
  const up = spawn("pulumi", ["up", "--yes", "--skip-preview", "--non-interactive", "--stack", "test"], {
    cwd: workspace.directory,
    env: { ...process.env, ...workspace.stack.workspace.envVars },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [up.stdout, up.stderr]) stream.on("data", (text) => (output += text));
  const ended = once(up, "exit");
  while (!/(PENDING|RUNNING) /.test(output) && up.exitCode === null) await sleep(50);
  up.kill("SIGINT");
  await ended;
  const [, jobId] =
    /Model weekly: training job (job-\S+) keeps running; the next `pulumi up` resumes/.exec(output) ?? [];
  expect(jobId).toBeDefined();
  await observed.releaseJobs();
  await workspace.stack.up();
  const submissions = observed.calls().filter((call) => call === "POST /submit-training-job");
  expect(submissions).toHaveLength(1);
  const { deployment } = await workspace.stack.exportStack();
  expect(JSON.stringify(deployment)).toContain(`"trainingJobId":"${jobId}"`);
});
