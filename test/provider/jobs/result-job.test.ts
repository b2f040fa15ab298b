import { ObservedService } from "../../engine/observed-service";
import { DynamicProvider } from "../dynamic-provider";
import { trainedProject } from "../trained-project";

let observed: ObservedService;
let provider: DynamicProvider;
let projectId: string;
let models: [string, string];

beforeAll(async () => {
  observed = await ObservedService.start();
  provider = await DynamicProvider.start(observed.config);
  ({ projectId, models } = await trainedProject(observed));
});
afterAll(async () => {
  await provider.stop();
  await observed.close();
});

describe("queries and groups of users", () => {
  const listeners = (genre: string) => ({
    name: "q",
    projectId,
    modelId: models[0],
    queryType: "user_list",
    queries: [{ conditions: [{ attribute: "genre", value: genre, lowerBound: 0.5 }] }],
  });

  test("return a result to download, and a delete removes them from the state", async () => {
    const query = listeners("jazz");
    const job = await provider.create("QueryingJob", query);
    const { state } = await provider.create("UserQuery", { ...query, submittedJobId: job.id });
    expect(state).toMatchObject({
      jobId: job.id,
      downloadUrl: expect.stringMatching(/^http/),
      expiredAtSec: expect.any(Number),
    });
    expect((await fetch(state.downloadUrl as string)).status).toBe(200);
    expect(await provider.read("UserQuery", job.id, state)).toMatchObject({ id: job.id });
    const adopted = await provider.create("UserQuery", { ...query, existingId: job.id });
    expect(adopted).toMatchObject({ id: job.id, state: { downloadUrl: state.downloadUrl } });
    await expect(provider.create("UserQuery", { ...query, existingId: "nope" })).rejects.toThrow(
      /existingId nope: there is no such job/,
    );
    await provider.delete("UserQuery", job.id, state);
    const grouping = {
      name: "c",
      projectId,
      modelId: models[0],
      clusterType: "user",
      parameters: { minUserNum: 2 },
    };
    const groupJob = await provider.create("ClusteringJob", grouping);
    const groups = await provider.create("UserClustering", { ...grouping, submittedJobId: groupJob.id });
    expect((await fetch(groups.state.downloadUrl as string)).status).toBe(200);
    const campaign = {
      name: "mail",
      projectId,
      modelId: models[0],
      limit: 2,
      attributes: [],
      format: "ndjson",
    };
    const mailJob = await provider.create("RecommendationJob", campaign);
    const mail = await provider.create("UserRecommendations", { ...campaign, submittedJobId: mailJob.id });
    const lines = (await (await fetch(mail.state.downloadUrl as string)).text()).trimEnd().split("\n");
    for (const line of lines) expect(JSON.parse(line).results).toHaveLength(2);
    expect(lines.length).toBeGreaterThan(1);
  });

  test("without matches report it in the output of the run", async () => {
    const query = listeners("polka");
    const job = await provider.create("QueryingJob", query);
    const { state } = await provider.create("UserQuery", { ...query, submittedJobId: job.id });
    expect(provider.messages).toContainEqual(
      expect.objectContaining({ severity: "warning", message: state.message }),
    );
    expect(state.message).toMatch(/^No item has genre = polka/);
  });
});
