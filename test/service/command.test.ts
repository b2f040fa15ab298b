import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run, serve } from "./process";
import { Caller } from "./running";
import { shopRecords } from "./shop";

describe("recommender", () => {
  const folder = mkdtempSync(join(tmpdir(), "command-"));
  const data = join(folder, "data");
  afterAll(() => rmSync(folder, { recursive: true }));

  test("serve --seed fills, trains and deploys; status, stop and reset follow", async () => {
    const file = join(folder, "shop.json");
    const { users, items, events } = shopRecords();
    writeFileSync(
      file,
      JSON.stringify({ name: "shop", users, items, events: events.map(({ eventId: _, ...event }) => event) }),
    );
    const service = await serve("--data", data, "--seed", file);
    const api = new Caller(service);
    const { results } = await api.call("recommendItemsToUser", { userId: "u1", attributes: ["genre"] });
    expect(results).toHaveLength(10);
    await api.close();
    const status = await run("status", "--data", data);
    expect(status.out).toMatch(/^event +event-dataset-\w+ +shop +400 +1$/m);
    expect(status.out).toContain("1 project, 1 algorithm, 1 model");
    expect(JSON.parse((await run("status", "--data", data, "--json")).out)).toMatchObject({ models: 1 });

    expect(JSON.parse((await run("stop", "--data", data, "--json")).out)).toEqual({
      stopped: true,
      pid: service.child.pid,
    });
    expect(JSON.parse((await run("stop", "--data", data, "--json")).out)).toEqual({
      stopped: false,
      pid: null,
    });
    expect(await run("status", "--data", data)).toMatchObject({
      code: 1,
      err: expect.stringContaining("recommender serve"),
    });

    expect(await run("reset", "--data", data)).toMatchObject({
      code: 1,
      err: expect.stringContaining("--yes"),
    });
    expect(existsSync(data)).toBe(true);
    const running = await serve("--data", data);
    expect(await run("reset", "--data", data, "--yes")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Deleted"),
    });
    expect(existsSync(data)).toBe(false);
    await running.end();
  });

  test("reset deletes no folder that is not a service's", async () => {
    const other = join(folder, "other");
    writeFileSync(other, "precious");
    expect(await run("reset", "--data", folder, "--yes")).toMatchObject({
      code: 0,
      out: expect.stringContaining("no data"),
    });
    expect(existsSync(other)).toBe(true);
  });

  test("a bad seed and a bad option say what is wrong", async () => {
    const file = join(folder, "bad.json");
    writeFileSync(file, JSON.stringify({ events: [{ userId: "u" }] }));
    const seeded = await run("serve", "--ephemeral", "--seed", file);
    expect(seeded).toMatchObject({ code: 1, err: expect.stringContaining("itemId") });
    expect(await run("serve", "--port", "many")).toMatchObject({
      code: 1,
      err: expect.stringContaining("whole number"),
    });
  });
});
