import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { routes } from "../../../contract";
import { embedded } from "../../../service";
import { ObservedService } from "../../engine/observed-service";
import { DynamicProvider } from "../dynamic-provider";
import { dataset, type Properties } from "./rules";

const providers: DynamicProvider[] = [];
const start = async (config: Record<string, string>, environment: Record<string, string> = {}) => {
  Object.assign(process.env, environment);
  const provider = await DynamicProvider.start(
    Object.fromEntries(Object.entries(config).map(([key, value]) => [`recommender:${key}`, value])),
  );
  for (const key of Object.keys(environment)) delete process.env[key];
  providers.push(provider);
  return provider;
};
afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.stop()));
});

describe("an object of an embedded service", () => {
  let directory: string;
  let data: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "recommender-belonging-"));
    data = join(directory, "data");
  });
  const end = async () => {
    const { pid } = await embedded(data);
    process.kill(pid);
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  test("is found without a running process, and after its directory has moved", async () => {
    const provider = await start({ baseUrl: `embedded:${data}` });
    const { id, state } = await provider.create("UserDataset", dataset);
    expect(state).toMatchObject({ __service: `embedded:${data}`, __instance: expect.any(String) });
    expect(provider.messages.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^started a new service in \S+data as process \d+; set recommender:baseUrl/),
    );
    await end();
    expect(await provider.diff("UserDataset", id, state, dataset)).toMatchObject({ changes: false });
    const moved = join(directory, "moved");
    renameSync(data, moved);
    const after = await start({ baseUrl: `embedded:${moved}` });
    expect(await after.diff("UserDataset", id, state, dataset)).toMatchObject({ changes: false });
    const noted = { __service: `embedded:${moved}`, __instance: state.__instance };
    expect((await after.read("UserDataset", id, state)).state).toMatchObject(noted);
    expect(await after.update("UserDataset", id, state, dataset)).toMatchObject(noted);
  });

  test("is reported with the line for .gitignore when its service is created in a Git work tree", async () => {
    execFileSync("git", ["init", "--quiet", directory]);
    const provider = await start({ baseUrl: `embedded:${data}` });
    await provider.create("UserDataset", dataset);
    expect(provider.messages.map(({ message }) => message)).toContain(
      `Add /data to .gitignore: ${data} has the service's data, and Git does not ignore it.`,
    );
    await end();
  });

  test("is gone after a reset of the data: a preview reports it, a refresh removes it, and a delete sends no call", async () => {
    const provider = await start({ baseUrl: `embedded:${data}` });
    const users = await provider.create("UserDataset", dataset);
    const events = await provider.create("EventDataset", dataset);
    await end();
    rmSync(data, { recursive: true });
    const after = await start({ baseUrl: `embedded:${data}` });
    for (const [type, { id, state }] of [
      ["UserDataset", users] as const,
      ["EventDataset", events] as const,
    ]) {
      await expect(after.diff(type, id, state, dataset)).rejects.toThrow(
        /no longer contains this resource: its data was reset.*`pulumi up --refresh`.*`pulumi destroy`/s,
      );
      await expect(after.update(type, id, state, dataset)).rejects.toThrow(/was reset/);
      expect((await after.read(type, id, state)).id).toBe("");
      await after.delete(type, id, state);
    }
    expect(existsSync(data)).toBe(false);
    // The same with new data in the directory.
    const other = await after.create("EventDataset", dataset);
    await expect(after.diff("EventDataset", events.id, events.state, dataset)).rejects.toThrow(/was reset/);
    expect((await after.read("UserDataset", users.id, users.state)).id).toBe("");
    expect((await after.read("EventDataset", other.id, other.state)).id).toBe(other.id);
    await end();
  });

  test("is accepted without the instance id, which older versions did not store", async () => {
    const provider = await start({ baseUrl: `embedded:${data}` });
    const { id, state } = await provider.create("EventDataset", dataset);
    const { __instance: _, ...older } = state;
    expect(await provider.diff("EventDataset", id, older, dataset)).toMatchObject({ changes: false });
    expect((await provider.read("EventDataset", id, older)).state).toMatchObject({
      __instance: state.__instance,
    });
    await end();
  });
});

describe("a service with a new address", () => {
  const types: [string, Properties][] = [
    ["UserDataset", dataset],
    ["EventDataset", dataset],
    ["TrainingJob", { name: "n", projectId: "p", algorithmId: "a", triggers: [] }],
    ["DeploymentJob", { name: "n", projectId: "p", generatorModelId: "m", qps: 1 }],
  ];

  test.each(types)("is confirmed once and stored from then on: %s", async (type, args) => {
    const observed = await ObservedService.start();
    const { baseUrl: _, ...config } = Object.fromEntries(
      Object.entries(observed.config).map(([key, value]) => [key.replace("recommender:", ""), value]),
    );
    // A read needs an existing object.
    const created = await observed.call(routes.createUserDataset, { name: "n", numShards: 1 });
    const id = type === "UserDataset" ? created.userDatasetId : "id";
    observed.calls();
    const here = { ...config, baseUrl: observed.service.url };
    const state = { ...args, __service: "https://former.example.com", jobId: "j", eventDatasetId: "id" };
    for (const no of ["", "0", "false"]) {
      const plain = await start(here, { RECOMMENDER_SERVICE_MOVED: no });
      await expect(plain.diff(type, id, state, args)).rejects.toThrow(
        /belongs to the service at https:\/\/former.example.com, but \S+ is configured.*RECOMMENDER_SERVICE_MOVED=1/s,
      );
    }
    const once = await start(here, { RECOMMENDER_SERVICE_MOVED: "1" });
    expect(await once.diff(type, id, state, args)).toEqual({ changes: true, replaces: [] });
    const updated = await once.update(type, id, state, args);
    expect(updated).toMatchObject({ __service: observed.service.url });
    expect(observed.calls()).toEqual([]);
    if (type !== "EventDataset") {
      expect((await once.read(type, id, state)).state).toMatchObject({ __service: observed.service.url });
    }
    const later = await start(here);
    expect(await later.diff(type, id, updated, args)).toMatchObject({ changes: false });
    await observed.close();
  });

  test("needs no confirmation if it reports the instance id in the state: it is asked once, and nothing changes", async () => {
    const observed = await ObservedService.start();
    const { config, service } = observed;
    const reply = await fetch(`${service.url}/healthz`);
    const { instance_id } = (await reply.json()) as { instance_id: string };
    const { userDatasetId } = await observed.call(routes.createUserDataset, { name: "n", numShards: 1 });
    observed.calls();
    const provider = await DynamicProvider.start(config);
    providers.push(provider);
    const state = { ...dataset, __service: "embedded:data", __instance: instance_id };
    for (let time = 0; time < 2; time++)
      expect(await provider.diff("UserDataset", "id", state, dataset)).toMatchObject({ changes: false });
    expect(observed.calls()).toEqual(["GET /healthz"]);
    const { state: noted } = await provider.read("UserDataset", userDatasetId, state);
    expect(noted).toMatchObject({ __service: service.url });
    expect(noted).not.toHaveProperty("__instance");
    // A copy of the data, such as the old directory, is no longer accepted.
    const copy = "https://copy.example.com";
    await expect(provider.diff("UserDataset", "id", { ...state, __service: copy }, dataset)).rejects.toThrow(
      /belongs to the service at https:\/\/copy.example.com, but/,
    );
    const changed = { ...dataset, numShards: 2 };
    expect(await provider.diff("UserDataset", "id", state, changed)).toMatchObject({ changes: true });
    await expect(
      provider.diff("UserDataset", "id", { ...state, __instance: "of-other-data" }, dataset),
    ).rejects.toThrow(/belongs to the service at embedded:data, but \S+ is configured/);
    await observed.close();
    const away = await DynamicProvider.start(config);
    providers.push(away);
    await expect(away.diff("UserDataset", "id", state, dataset)).rejects.toThrow(
      /belongs to the service at .*cannot read the id of its data from .*\/healthz: fetch failed/s,
    );
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
