import { decode } from "../../../contract";
import { statusReply } from "../../../service";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";

describe("/status", () => {
  test("shows the objects and jobs of the service to callers with the key", async () => {
    const api = await Running.start();
    const shop = await openShop(api);
    const modelId = await trainModel(api, shop);
    await deploy(api, shop.projectId, modelId, { qps: 7 });
    expect((await api.raw("/status")).status).toBe(401);
    const { body } = await api.raw("/status", { headers: { apikey: api.service.key } });
    const status = statusReply.parse(decode(statusReply, body));
    expect(status).toMatchObject({
      url: api.service.url,
      pid: process.pid,
      dataDir: api.service.place,
      projects: 1,
      algorithms: 1,
      models: 1,
      jobs: { pending: 0, running: 0, succeed: 2, failed: 0 },
      deployments: [
        { projectId: shop.projectId, generatorModelId: modelId, rankerModelId: null, qps: 7, loaded: true },
      ],
    });
    expect(status.datasets.map(({ kind, records }) => [kind, records])).toEqual([
      ["user", 40],
      ["item", 60],
      ["event", 400],
    ]);
    await api.end();
  });
});
