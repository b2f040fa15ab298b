import { OtherService } from "./other-service";
import { program, served } from "./shop-program";
import { engineWorkspace } from "./workspace";

test("everything works on a service that makes different choices where the specification allows them", async () => {
  const other = new OtherService();
  const workspace = await engineWorkspace(program + served, await other.start());
  const { stack } = workspace;
  const { outputs } = await stack.up();
  const ids = { event: outputs.eventDatasetId?.value, model: outputs.modelId?.value };
  expect(other.models.get(ids.model)).toMatchObject({ name: "weekly" });
  expect(other.deployed).toMatchObject({ generator_model_id: ids.model, qps: 3 });
  other.calls.length = 0;
  await stack.up();
  expect(other.calls).toEqual([]);

  const dataset = other.eventDatasets.get(ids.event) as Record<string, unknown>;
  other.eventDatasets.set(ids.event, { ...dataset, name: "by hand" });
  const refreshed = await stack.refresh();
  expect(refreshed.summary.resourceChanges).toMatchObject({ update: 1 });
  await stack.up();
  expect(other.eventDatasets.get(ids.event)).toMatchObject({ name: "events" });

  other.models.delete(ids.model);
  other.deployed = undefined;
  expect((await stack.refresh()).summary.resourceChanges).toMatchObject({ delete: 2 });
  await stack.up();
  expect(other.models.size).toBe(1);
  expect(other.deployed).toBeDefined();
  await stack.destroy();
  expect([other.eventDatasets.size, other.models.size, other.deployed]).toEqual([0, 0, undefined]);
  await workspace.dispose();
  await other.stop();
});
