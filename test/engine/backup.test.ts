import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startService } from "../../service";
import { contentsOf, done } from "../service/backup/contents";
import { newDatabase } from "../service/database";
import { Caller } from "../service/running";
import { shopRecords } from "../service/shop";
import { program, served } from "./shop-program";
import { engineWorkspace } from "./workspace";

const history = `
new recommender.EventRecords("history", { eventDatasetId: events.id, source: "events.json" });
`;

test("a stack follows its service to PostgreSQL and back to a directory, and nothing is created, changed or sent again", async () => {
  const workspace = await engineWorkspace(program + history + served);
  const { stack, directory } = workspace;
  const at = (name: string) => join(directory, name);
  const { events } = shopRecords();
  writeFileSync(at("events.json"), JSON.stringify(events));
  const baseUrl = (value: string) => stack.setConfig("recommender:baseUrl", { value });
  await baseUrl(`embedded:${at("data")}`);
  await stack.up();

  const database = await newDatabase();
  await done("export", at("backup"), "--data", at("data"));
  await done("restore", at("backup"), "--store", database.url);
  await done("stop", "--data", at("data"));
  const key = "rk_the-key-of-the-tests";
  const service = await startService({ store: database.url, key, log: "none" });
  await baseUrl(service.url);
  const { envVars } = stack.workspace;
  stack.workspace.envVars = { ...envVars, RECOMMENDER_API_KEY: key };
  const preview = await stack.preview({ expectNoChanges: true });
  expect(preview.changeSummary).toEqual({ same: expect.any(Number) });
  const moved = await stack.up({ expectNoChanges: true });
  expect(moved.summary.resourceChanges).toEqual(preview.changeSummary);
  // A refresh stores only the new address in each state entry. From then on, the old directory is rejected.
  await stack.refresh();
  const read = await stack.refresh({ expectNoChanges: true });
  expect(read.summary.resourceChanges).toEqual({ same: expect.any(Number) });
  const api = new Caller(service);
  expect((await api.call("recommendItemsToUser", { userId: "u1" })).results.length).toBeGreaterThan(0);

  await api.close();
  await service.close();
  await done("export", at("backup-2"), "--store", database.url);
  // Each service has its own key.
  const held = async (name: string) => ({ ...(await contentsOf(at(name))), key: [] });
  expect(await held("backup-2")).toEqual(await held("backup"));
  await database.drop();
  await done("restore", at("backup-2"), "--data", at("back"));
  await baseUrl(`embedded:${at("back")}`);
  stack.workspace.envVars = envVars;
  // The old directory has the same instance id as the new one, so the user has to confirm the move.
  await expect(stack.preview()).rejects.toThrow(/belongs to the service at http/);
  stack.workspace.envVars = { ...envVars, RECOMMENDER_SERVICE_MOVED: "1" };
  await stack.refresh({ runProgram: true });
  stack.workspace.envVars = envVars;
  const back = await stack.preview({ expectNoChanges: true });
  expect(back.changeSummary).toEqual(preview.changeSummary);
  const up = await stack.up({ expectNoChanges: true });
  expect(up.summary.resourceChanges).toEqual(preview.changeSummary);
  await done("stop", "--data", at("back"));
  await workspace.dispose();
});
