import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataDirectoryAt, findRunning, readRunning } from "../../../service";
import { eventually } from "../../service/jobs/watched";
import { run, serve } from "../../service/process";
import { Caller } from "../../service/running";
import { openShop, shopRecords } from "../../service/shop";

describe("recommender", () => {
  const directory = mkdtempSync(join(tmpdir(), "command-"));
  const data = join(directory, "data");
  afterAll(() => rmSync(directory, { recursive: true }));

  test("serve --seed fills, trains and deploys; status, stop and reset follow", async () => {
    const file = join(directory, "shop.json");
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

  test("reset deletes only files of a service", async () => {
    const other = join(directory, "other");
    writeFileSync(other, "precious");
    expect(await run("reset", "--data", directory, "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("is not a data directory"),
    });
    const database = join(directory, "somebody's");
    mkdirSync(database);
    writeFileSync(join(database, "data.db"), "precious");
    expect(await run("reset", "--data", database, "--yes")).toMatchObject({
      code: 0,
      out: expect.stringContaining("no service data"),
    });
    expect(existsSync(join(database, "data.db"))).toBe(true);

    const service = await serve("--data", data);
    mkdirSync(join(data, "src"));
    writeFileSync(join(data, "models", "mine.bin"), "precious");
    const { code, out } = await run("reset", "--data", data, "--yes", "--json");
    expect([code, JSON.parse(out)]).toEqual([0, { reset: true, dataDir: data, kept: ["models", "src"] }]);
    expect(readdirSync(join(data, "models"))).toEqual(["mine.bin"]);
    expect(existsSync(other)).toBe(true);
    await service.end();
    rmSync(data, { recursive: true });
  });

  test("stop ends a service during a slow call", async () => {
    const service = await serve("--data", data);
    const { port } = new URL(service.url);
    const slow = connect(Number(port), "127.0.0.1");
    slow.on("error", () => undefined);
    slow.write(
      "POST /oauth/token HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
    );
    const [first, second] = await Promise.all([run("stop", "--data", data), run("stop", "--data", data)]);
    expect(first).toMatchObject({ code: 0, out: `Stopped process ${service.child.pid}\n` });
    expect(second).toMatchObject({ code: 0, out: `Stopped process ${service.child.pid}\n` });
    await service.end();
    expect(service.child.exitCode).toBe(0);
    slow.destroy();
  });

  test("serve --threads runs one training per two threads", async () => {
    const service = await serve("--ephemeral", "--threads", "6");
    const api = new Caller(service);
    const { projectId } = await openShop(api);
    const forLong = { dimensions: 512, regularization: 0.1, alpha: 0.3, epochs: 200 };
    const { algorithmId } = await api.call("createAlgorithm", {
      projectId,
      name: "for long",
      algorithmParameters: forLong,
    });
    const submit = async () =>
      (await api.call("submitTrainingJob", { projectId, algorithmId, name: "for long" })).jobId;
    const jobs = [await submit(), await submit(), await submit(), await submit()];
    const states = () =>
      Promise.all(jobs.map(async (jobId) => (await api.call("getJob", { projectId, jobId })).jobStatus));
    await eventually(async () => (await states()).filter((state) => state === "RUNNING").length === 3);
    expect(await states()).toEqual(["RUNNING", "RUNNING", "RUNNING", "PENDING"]);
    await api.close();
    await service.end();
    expect(await run("serve", "--threads", "0")).toMatchObject({
      code: 1,
      err: expect.stringContaining("--threads"),
    });
  });

  test("empty environment variables count as unset", async () => {
    const names = ["RECOMMENDER_THREADS", "RECOMMENDER_TRAINER", "RECOMMENDER_CONSOLE"];
    for (const name of names) process.env[name] = "";
    try {
      const service = await serve("--ephemeral", "--host", "0.0.0.0");
      // Without the variable, other machines cannot open the console.
      expect((await fetch(service.url)).status).toBe(404);
      await service.end();
    } finally {
      for (const name of names) delete process.env[name];
    }
  });

  test("stop never signals an invalid process id or one of another machine", async () => {
    const service = await serve("--data", data);
    const directory = dataDirectoryAt(data);
    const running = readFileSync(directory.runningFile, "utf8");
    const write = (changed: object) =>
      writeFileSync(directory.runningFile, JSON.stringify({ ...JSON.parse(running), ...changed }));
    write({ host: "elsewhere" });
    expect(await run("stop", "--data", data)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/on elsewhere uses .*Stop it there/s),
    });
    for (const pid of [0, -1, 1.5, "1", null]) {
      write({ pid });
      expect(readRunning(directory)).toBeUndefined();
    }
    writeFileSync(directory.runningFile, running);
    expect(await findRunning(directory)).toMatchObject({ url: service.url });
    await service.end();
  });

  test("stop never signals a process that has the id of an earlier service", async () => {
    const service = await serve("--data", data);
    const directory = dataDirectoryAt(data);
    const running = readFileSync(directory.runningFile, "utf8");
    const stranger = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    // On the request for a proof, writes the file as a service does that has just locked the directory.
    const former = createServer((_, response) => {
      writeFileSync(directory.runningFile, running);
      response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(former, "listening");
    const url = `http://127.0.0.1:${(former.address() as AddressInfo).port}`;
    writeFileSync(directory.runningFile, JSON.stringify({ ...JSON.parse(running), pid: stranger.pid, url }));
    const stopped = await run("stop", "--data", data);
    expect([stopped.code, stranger.exitCode, stranger.signalCode]).toEqual([0, null, null]);
    expect(service.child.exitCode).toBe(0);
    stranger.kill();
    former.close();
  });

  test("a data directory with a stuck process is neither deleted nor reported as free", async () => {
    const service = await serve("--data", data);
    service.child.kill("SIGSTOP");
    const stuck = { code: 1, err: expect.stringContaining(`rocess ${service.child.pid}`) };
    const [status, reset] = await Promise.all([
      run("status", "--data", data),
      run("reset", "--data", data, "--yes"),
    ]);
    expect(status).toMatchObject(stuck);
    expect(reset).toMatchObject(stuck);
    expect(reset.err).toContain(`kill -9 ${service.child.pid}`);
    expect(existsSync(join(data, "data.db"))).toBe(true);
    await service.end("SIGKILL");
    expect(await run("reset", "--data", data, "--yes")).toMatchObject({ code: 0 });
  });

  test("an invalid seed and an invalid option are reported", async () => {
    const file = join(directory, "bad.json");
    writeFileSync(file, JSON.stringify({ events: [{ userId: "u" }] }));
    const seeded = await run("serve", "--ephemeral", "--seed", file);
    expect(seeded).toMatchObject({ code: 1, err: expect.stringContaining("itemId") });
    expect(await run("serve", "--port", "many")).toMatchObject({
      code: 1,
      err: expect.stringContaining("whole number"),
    });
  });
});
