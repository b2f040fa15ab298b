import { Running } from "../running";

describe("projects and algorithms", () => {
  let api: Running;
  let datasets: { userDatasetId: string; itemDatasetId: string; eventDatasetId: string };
  beforeAll(async () => {
    api = await Running.start();
    const { userDatasetId } = await api.call("createUserDataset", { name: "users", numShards: 1 });
    const { itemDatasetId } = await api.call("createItemDataset", { name: "items", numShards: 1 });
    const { eventDatasetId } = await api.call("createEventDataset", { name: "events", numShards: 1 });
    datasets = { userDatasetId, itemDatasetId, eventDatasetId };
  });
  afterAll(() => api.end());

  test("a project answers its fields and an address of its own", async () => {
    const fields = {
      name: "shop",
      projectType: "RECOMMEND_ITEMS_TO_USER",
      ...datasets,
      targetEventType: "purchase",
    } as const;
    const project = await api.call("createProject", fields);
    expect(project).toMatchObject(fields);
    expect(project.servingUri).toBe(`${api.service.url}/serving/${project.projectId}`);
  });

  test.each(["userDatasetId", "itemDatasetId", "eventDatasetId"])("a missing %s is named", async (field) => {
    const fields = { name: "shop", ...datasets, [field]: "nowhere", targetEventType: "purchase" };
    await expect(api.call("createProject", fields)).rejects.toMatchObject({
      status: 404,
      error: {
        code: "NOT_FOUND",
        message: expect.stringMatching(/There is no (user|item|event) dataset "nowhere"/),
      },
    });
  });

  test("an algorithm belongs to a project, and its parameters are checked and kept", async () => {
    const { projectId } = await api.call("createProject", {
      name: "shop",
      ...datasets,
      targetEventType: "purchase",
    });
    const fields = {
      projectId,
      name: "g1",
      algorithmType: "G1",
      algorithmParameters: { dimensions: 16, weighting: "log" },
    } as const;
    expect(await api.call("createAlgorithm", fields)).toMatchObject(fields);
    await expect(api.call("createAlgorithm", { projectId: "nowhere", name: "g1" })).rejects.toMatchObject({
      status: 404,
    });
    const weighed = {
      projectId,
      name: "g1",
      algorithmParameters: { event_weights: { purchase: 2, view: 0.1 } },
    };
    await expect(api.call("createAlgorithm", weighed)).rejects.toMatchObject({
      status: 400,
      error: {
        details: [
          {
            path: "algorithm_parameters.event_weights.purchase",
            message: expect.stringContaining("leave it out"),
          },
        ],
      },
    });
    const wrong = {
      project_id: projectId,
      name: "g1",
      algorithm_parameters: { effort: "heroic", dimensions: 0, speed: "fast" },
    };
    const headers = { ...(await api.headers("/create-algorithm")), "content-type": "application/json" };
    expect(
      await api.raw("/create-algorithm", { method: "POST", headers, body: JSON.stringify(wrong) }),
    ).toMatchObject({
      status: 400,
      body: {
        error: {
          details: [
            { path: "algorithm_parameters.effort", message: "expected quick, balanced or thorough" },
            { path: "algorithm_parameters.dimensions", message: expect.any(String) },
            { path: "algorithm_parameters", message: expect.stringContaining("speed") },
          ],
        },
      },
    });
  });
});
