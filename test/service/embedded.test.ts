import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { dataDirectoryAt, type Embedded, embedded, existing, findRunning, startService } from "../../service";
import { ManualClock } from "./manual-clock";
import { run, serve } from "./process";
import { Caller, Running } from "./running";
import { deploy, openShop, trainModel } from "./shop";

const source = join(__dirname, "..", "..", "dist", "service");

/** Requests the service of a data directory from a separate process. */
async function ask(dir: string): Promise<Embedded> {
  const program = `require(${JSON.stringify(source)}).embedded(${JSON.stringify(dir)}).then((it) => console.log(JSON.stringify(it)))`;
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", program]);
  return JSON.parse(stdout);
}

describe("the embedded service of a data directory", () => {
  const dir = mkdtempSync(join(tmpdir(), "embedded-"));
  afterAll(async () => {
    await run("stop", "--data", dir);
    rmSync(dir, { recursive: true });
  });

  test("is started once for concurrent processes, and keeps its port after a kill", async () => {
    const all = await Promise.all([ask(dir), ask(dir), ask(dir)]);
    expect(new Set(all.map(({ url, pid }) => `${url} ${pid}`)).size).toBe(1);
    expect(all.filter(({ started }) => started)).toHaveLength(1);
    expect(all.filter(({ created }) => created)).toHaveLength(1);
    const { url, key, pid, instanceId } = all[0];
    const api = new Caller({ url, key });
    const { eventDatasetId } = await api.call("createEventDataset", { name: "kept", numShards: 1 });
    await api.close();
    process.kill(pid, "SIGKILL");
    const again = await embedded(dir);
    expect(again).toMatchObject({ url, key, instanceId, created: false });
    expect(again.pid).not.toBe(pid);
    const next = new Caller(again);
    expect(await next.call("getEventDataset", { eventDatasetId })).toMatchObject({ name: "kept" });
    await next.close();
    expect(await embedded(dir)).toEqual({ ...again, started: false });
  });

  test("leaves no process behind that would start again after a stop", async () => {
    await run("stop", "--data", dir);
    const all = await Promise.all(Array.from({ length: 4 }, () => ask(dir)));
    expect(servingProcesses()).toEqual([all[0]?.pid]);
    await run("stop", "--data", dir);
    expect(servingProcesses()).toEqual([]);
  });

  test("may take long to start, but has to respond afterwards", async () => {
    const { started, pid } = await embedded(dir, { patienceMs: 1 });
    expect(started).toBe(true);
    process.kill(pid, "SIGSTOP");
    const silent = `in use by process ${pid}, which does not respond`;
    await expect(embedded(dir, { patienceMs: 1 })).rejects.toThrow(silent);
    process.kill(pid, "SIGCONT");
  });

  function servingProcesses(): number[] {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    const commandOf = (pid: string) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      } catch {
        return [];
      }
    };
    return pids.filter((pid) => ["serve", dir].every((part) => commandOf(pid).includes(part))).map(Number);
  }

  test("is found, running or not, without starting anything", async () => {
    const { started: _, created: __, ...running } = await embedded(dir);
    expect(await existing(dir)).toEqual({ dir, running });
    await run("stop", "--data", dir);
    expect(await existing(dir)).toEqual({ dir, running: undefined });
    expect(await findRunning(dataDirectoryAt(dir))).toBeUndefined();
    const nowhere = join(dir, "nowhere");
    expect(await existing(nowhere)).toBeUndefined();
    expect(existsSync(nowhere)).toBe(false);
  });

  test("gets the environment that Node needs, and no credentials", async () => {
    const { env } = process;
    process.env = { ...env, SOME_CLOUD_KEY: "not for the service", LD_LIBRARY_PATH: dir };
    const { pid, started } = await embedded(dir).finally(() => {
      process.env = env;
    });
    expect(started).toBe(true);
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    expect(environment).toContain(`PATH=${env.PATH}`);
    expect(environment).toContain(`LD_LIBRARY_PATH=${dir}`);
    expect(environment.join()).not.toContain("SOME_CLOUD_KEY");
  });

  test("rejects a second service on the data directory, and names the first", async () => {
    const { url } = await embedded(dir);
    const { code, err } = await run("serve", "--data", dir);
    expect(code).toBe(3);
    expect(err).toContain(url);
    await expect(startService({ dataDir: dir })).rejects.toThrow("already in use");
  });
});

describe("a service", () => {
  test("of version 0.1.0 that still runs is reported at once, with the command that stops it", async () => {
    const api = await Running.start();
    const { dataDir } = api.service;
    const { runningFile } = dataDirectoryAt(dataDir);
    const { url, pid } = JSON.parse(readFileSync(runningFile, "utf8"));
    writeFileSync(runningFile, JSON.stringify({ url, pid }));
    await expect(embedded(dataDir, { patienceMs: 3_600_000 })).rejects.toThrow(
      `in use by process ${pid}, which is version 0.1.0 and cannot be used by this version. ` +
        `Run \`recommender stop --data ${dataDir}\` and try again. The data is kept.`,
    );
    await api.end();
  });

  test("stops when idle", async () => {
    const clock = new ManualClock();
    let ended = () => {};
    const end = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const api = await Running.start({ clock, idleMinutes: 30, onIdle: () => ended() });
    const { dataDir } = api.service;
    clock.advance(29 * 60_000);
    await api.raw("/nowhere");
    clock.advance(29 * 60_000);
    expect((await api.raw("/nowhere")).status).toBe(404);
    await api.close();
    for (let left = 3; left > 0; left--) {
      clock.advance(30 * 60_000);
      await new Promise(setImmediate);
    }
    await end;
    expect(() => readFileSync(dataDirectoryAt(dataDir).keyFile)).toThrow("ENOENT");
  });

  test("takes a new port if another program has its port, and warns about it", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "port-"));
    const stranger = createServer().listen(0, "127.0.0.1");
    await once(stranger, "listening");
    const { port } = stranger.address() as { port: number };
    writeFileSync(dataDirectoryAt(dataDir).portFile, `${port}\n`);
    const service = await startService({ dataDir, log: "none" });
    expect(service.warnings).toEqual([expect.stringContaining(`Another program uses port ${port}`)]);
    expect(service.url).not.toContain(`:${port}`);
    await service.close();
    await expect(startService({ dataDir, port, log: "none" })).rejects.toThrow(`Port ${port} is in use`);
    stranger.close();
    rmSync(dataDir, { recursive: true });
  });

  test("returns its public address in responses", async () => {
    const everywhere = await Running.start({ host: "0.0.0.0" });
    expect(everywhere.service.warnings).toEqual([expect.stringContaining("--public-url http://")]);
    await everywhere.end();
    const publicUrl = "https://recommender.example.com/api/";
    const api = await Running.start({ host: "0.0.0.0", publicUrl });
    expect(api.service.warnings).toEqual([]);
    expect(api.service.url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    const shop = await openShop(api);
    const servingUri = await deploy(api, shop.projectId, await trainModel(api, shop));
    expect(servingUri).toBe(`https://recommender.example.com/api/serving/${shop.projectId}`);
    expect(await findRunning(dataDirectoryAt(api.service.dataDir))).toMatchObject({ url: api.service.url });
    await api.end();
    const bad = await run("serve", "--ephemeral", "--public-url", "example.com");
    expect(bad).toMatchObject({ code: 1, err: expect.stringContaining("Expected an address") });
  });

  test("exits cleanly on SIGTERM and SIGINT", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const service = await serve("--ephemeral");
      await service.end(signal);
      expect(service.child.exitCode).toBe(0);
    }
  });
});

describe("the key", () => {
  /** A program that took the port of a service. It relays all requests to `relayTo`. */
  async function stranger(relayTo?: string) {
    const heard: string[] = [];
    const server = createHttpServer(async (request, response) => {
      heard.push(JSON.stringify([request.url, request.headers]));
      const answer = relayTo ? await (await fetch(`${relayTo}${request.url}`)).text() : "{}";
      response.setHeader("content-type", "application/json").end(answer);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    return { heard, url: `http://127.0.0.1:${port}`, end: () => server.close().closeAllConnections() };
  }

  test("is not sent to another program at the port of a dead service", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "dead-"));
    const directory = dataDirectoryAt(dataDir);
    const service = await serve("--data", dataDir);
    await service.end("SIGKILL");
    const { heard, url, end } = await stranger();
    const left = JSON.parse(readFileSync(directory.runningFile, "utf8"));
    writeFileSync(directory.runningFile, JSON.stringify({ ...left, url }));
    expect(await findRunning(directory)).toBeUndefined();
    expect(heard).toEqual([]);
    end();
    rmSync(dataDir, { recursive: true });
  });

  test("is not sent to another program that relays the challenge to the service", async () => {
    const api = await Running.start();
    const directory = dataDirectoryAt(api.service.dataDir);
    const { heard, url, end } = await stranger(api.service.url);
    const own = readFileSync(directory.runningFile, "utf8");
    expect(await findRunning(directory)).toMatchObject({ url: api.service.url, key: api.service.key });
    writeFileSync(directory.runningFile, JSON.stringify({ ...JSON.parse(own), url }));
    expect(await findRunning(directory)).toBeUndefined();
    expect(heard).toHaveLength(1);
    expect(heard.join()).not.toContain(api.service.key);
    end();
    await api.end();
  });
});
