import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Report, StackReport } from "../../cli/drift/finding";
import { routes } from "../../contract";
import { command, ended } from "../service/process";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const program = `
const recommender = require("pulumi-recommender");
new recommender.EventDataset("events", { numShards: 1 });
`;

describe("recommender drift with a policy and a webhook, through the real engine", () => {
  let observed: ObservedService;
  let workspace: EngineWorkspace;
  let webhook: Server;
  let status = 200;
  const posted: string[] = [];
  beforeAll(async () => {
    observed = await ObservedService.start();
    workspace = await engineWorkspace(program, observed.environment);
    await workspace.stack.up();
    const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
    const [{ eventDatasetId } = { eventDatasetId: "" }] = eventDatasets;
    const renamed = { eventDatasetId, name: "by hand", attributeSchema: null };
    await observed.call(routes.updateEventDataset, renamed);
    webhook = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        posted.push((JSON.parse(body) as { text: string }).text);
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => webhook.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    webhook.close();
    await workspace.dispose();
    await observed.close();
  });

  const drift = (...args: string[]) => {
    const { port } = webhook.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/services/hush-hush`;
    const env = { ...process.env, ...workspace.stack.workspace.envVars, RECOMMENDER_NOTIFY_URL: url };
    const child = spawn(process.execPath, [command, "drift", "--stack", "test", ...args], {
      cwd: workspace.directory,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return ended(child);
  };
  const setPolicy = (until: string) =>
    writeFileSync(
      join(workspace.directory, "recommender.yaml"),
      `drift:\n  accept:\n    - stack: test\n      resource: events\n      property: name\n      reason: a test\n      until: ${until}\n`,
    );
  const report = (): StackReport => {
    const text = readFileSync(join(workspace.directory, "drift.json"), "utf8");
    return (JSON.parse(text) as Report).stacks[0] as StackReport;
  };

  test("a webhook that fails is reported without its address, and gets the finding in the next run", async () => {
    status = 503;
    const failed = await drift("--output", "drift.json");
    expect(failed).toMatchObject({
      code: 1,
      err: expect.stringContaining("webhook of --notify did not get the findings: it answered 503"),
    });
    expect(failed.out + failed.err).not.toContain("hush-hush");
    expect(report().drift).toHaveLength(1);
    status = 200;
    posted.length = 0;
    expect((await drift("--since", "drift.json", "--output", "drift.json", "--fail-on", "new")).code).toBe(0);
    expect(posted).toEqual(["*test/test*: 1 new\n• :warning: Drift: EventDataset events changed (name)"]);
  });

  test("an accepted finding is listed and does not fail the check, and the webhook gets it as resolved", async () => {
    setPolicy("2999-12-31");
    posted.length = 0;
    const { code, out } = await drift("--since", "drift.json", "--output", "drift.json");
    expect({ code, out: out.replace(/\s+/g, " ") }).toMatchObject({
      code: 0,
      out: expect.stringContaining("no other drift seen, no other pending changes, 1 accepted"),
    });
    expect(report().accepted).toMatchObject([
      { by: [{ reason: "a test", until: "2999-12-31", location: { file: "recommender.yaml", line: 3 } }] },
    ]);
    expect(posted).toEqual([
      "*test/test*: 1 resolved\n• :white_check_mark: resolved: Drift: EventDataset events changed (name) (accepted)",
    ]);
  });

  test("an expired entry fails the check, and a broken file stops it with the line", async () => {
    setPolicy("2020-01-31");
    const expired = await drift("--since", "drift.json");
    expect(expired).toMatchObject({ code: 2, out: expect.stringContaining("expired after 2020-01-31") });
    setPolicy("soon");
    expect(await drift()).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^recommender\.yaml:7: drift\.accept\[0\]\.until: expected a date/),
    });
  });
});
