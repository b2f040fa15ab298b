import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { cachePlace } from "../../tools/engine/cache.js";
import type { GoProgram } from "../../tools/engine/pinned.js";
import { provideEngine, provideHosts } from "../../tools/engine/provide.js";
import {
  contentsOf,
  heardProgress,
  pathWithoutEngine,
  startProviding,
  temporaryDirectory,
  tinyPrograms,
} from "./provide";

const version = "9.8.7";

/** A machine without an engine, on which downloads fail. */
async function machine(): Promise<{ env: NodeJS.ProcessEnv; cache: string }> {
  const cache = await temporaryDirectory();
  const env = {
    ...process.env,
    PATH: pathWithoutEngine(),
    RECOMMENDER_ENGINE_CACHE: cache,
    RECOMMENDER_ENGINE_DOWNLOAD: `http://127.0.0.1:${await closedPort()}`,
    GOTOOLCHAIN: "local",
  };
  return { env, cache };
}

/** Returns a port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

const place = cachePlace("", version);

describe("an engine built from source", () => {
  test("is cached and not built again", async () => {
    const { env, cache } = await machine();
    const programs = await tinyPrograms();
    const { progress, heard } = heardProgress();
    const engine = await provideEngine({ env, version, programs, progress });
    expect(engine).toEqual({ version, bin: join(cache, place, "bin"), source: "build" });
    expect(execFileSync(join(engine.bin, "pulumi"), { encoding: "utf8" })).toBe(`v${version}\n`);
    expect(heard.join("")).toMatch(/building 9\.8\.7 from source: \d+ packages to compile/);
    expect(await contentsOf(cache)).toEqual([place]);

    const again = heardProgress();
    expect(await provideEngine({ env, version, programs: [], progress: again.progress })).toEqual(engine);
    expect(again.heard).toEqual([]);
  });

  test("is built with patches and added code, and not if a patch does not apply", async () => {
    const { env, cache } = await machine();
    const [engine, host] = (await tinyPrograms()) as [GoProgram, GoProgram];
    const directory = await temporaryDirectory();
    const pin = `require tiny v0.0.0\n\nreplace tiny => ${host.directory}\n`;
    await writeFile(join(directory, "go.mod"), `module pinned\n\ngo 1.21\n\n${pin}`);
    await writeFile(join(directory, "added.go"), 'package main\n\nvar added = Version + " and added"\n');
    const patched = (from: string) => {
      const patches = [
        { file: "main.go", from: '"unset"', to: '"patched"' },
        { file: "main.go", from, to: "say(added)" },
      ];
      const programs = [engine, { ...host, directory, patches }];
      return { env, version, progress: heardProgress().progress, programs };
    };
    await expect(provideEngine(patched("tell(Version)"))).rejects.toThrow(/main\.go of tiny must contain/);
    const { bin } = await provideEngine(patched("say(Version)"));
    const said = execFileSync(join(bin, "pulumi-language-nodejs"), { encoding: "utf8" });
    expect(said).toBe("patched and added\n");
    expect(execFileSync(join(bin, "pulumi"), { encoding: "utf8" })).toBe(`v${version}\n`);
    expect((await contentsOf(join(cache, place))).sort()).toEqual(["bin", "engine.json"]);
  });

  test("is built again if one of its files is missing", async () => {
    const { env } = await machine();
    const options = { env, version, programs: await tinyPrograms(), progress: heardProgress().progress };
    const { bin } = await provideEngine(options);
    await rm(join(bin, "pulumi"));
    await provideEngine(options);
    expect(execFileSync(join(bin, "pulumi"), { encoding: "utf8" })).toBe(`v${version}\n`);
  });

  test("is built once by two runs at the same time", async () => {
    const { env, cache } = await machine();
    const programs = await tinyPrograms();
    const first = startProviding({ version, programs }, env);
    await first.hasSaid("building");
    const second = startProviding({ version, programs }, env);
    const [one, two] = await Promise.all([first.ended, second.ended]);
    expect(one).toMatchObject({ code: 0 });
    expect(two).toEqual(one);
    expect(second.said()).toContain("waiting for another process that is preparing the same engine");
    expect(second.said()).not.toContain("building");
    expect(await contentsOf(cache)).toEqual([place]);
  });

  test("is built by the next run if the first run is killed and leaves its lock behind", async () => {
    const { env, cache } = await machine();
    const programs = await tinyPrograms();
    const killed = startProviding({ version, programs }, env);
    await killed.hasSaid("building");
    killed.process.kill("SIGKILL");
    await killed.ended;
    expect(await contentsOf(cache)).toContain(`${place}.lock`);

    const next = startProviding({ version, programs, staleLockMs: 2_000 }, env);
    expect(await next.ended).toMatchObject({ code: 0 });
    expect(await contentsOf(cache)).toEqual([place]);
  });

  test("leaves no files behind when the build is interrupted", async () => {
    const { env, cache } = await machine();
    const run = startProviding({ version, programs: await tinyPrograms() }, env);
    await run.hasSaid("building");
    run.process.kill("SIGINT");
    expect(await run.ended).toMatchObject({ code: 1 });
    expect(run.said()).toContain("stopped by SIGINT");
    expect(await contentsOf(cache)).toEqual([]);
  });
});

describe("language hosts", () => {
  test("are built for a cached engine, with their companion script, and cached", async () => {
    const { env, cache } = await machine();
    const [engine, host] = await tinyPrograms();
    const programs = [{ ...host, name: "pulumi-language-tiny", companion: "pulumi-language-tiny-exec" }];
    await writeFile(join(host?.directory ?? "", "../pulumi-language-tiny-exec"), "#!/bin/sh\n");
    const { bin: engineBin } = await provideEngine({
      env,
      version,
      programs: [engine, host] as GoProgram[],
      progress: heardProgress().progress,
    });
    const made = await provideHosts({
      env,
      programs: programs as GoProgram[],
      progress: heardProgress().progress,
    });
    expect(await contentsOf(made.bin)).toEqual(["pulumi-language-tiny", "pulumi-language-tiny-exec"]);
    expect(execFileSync(join(made.bin, "pulumi-language-tiny"), { encoding: "utf8" })).toBe("unset\n");

    const again = heardProgress();
    expect(await provideHosts({ env, programs: programs as GoProgram[], progress: again.progress })).toEqual({
      bin: made.bin,
    });
    expect(await provideEngine({ env, version, programs: [], progress: again.progress })).toMatchObject({
      bin: engineBin,
    });
    expect(again.heard).toEqual([]);
    expect(await contentsOf(cache)).toHaveLength(2);
  });

  test("are taken from PATH if they are there", async () => {
    const { env } = await machine();
    const [, host] = await tinyPrograms();
    const bin = await temporaryDirectory();
    await writeFile(join(bin, "pulumi-language-nodejs"), "");
    const found = provideHosts({
      ...{ env: { ...env, PATH: `/nowhere:${bin}` }, programs: [host] as GoProgram[] },
      progress: heardProgress().progress,
    });
    expect(await found).toEqual({ bin });
  });
});

describe("if no engine can be provided", () => {
  test("every reason is shown with its fix", async () => {
    const { env } = await machine();
    const programs = await tinyPrograms("1.21.3");
    const none = provideEngine({ env: { ...env, PATH: "/nowhere" }, version, programs, ...heardProgress() });
    const message = await none.catch((error: Error) => error.message);
    expect(message).toContain("1. an engine on PATH: there is no `pulumi` on PATH");
    expect(message).toContain("Fix: Install Pulumi 3.216.0 or newer");
    expect(message).toMatch(/2\. the official download: .*ECONNREFUSED/);
    expect(message).toContain("Fix: Make 127.0.0.1:");
    expect(message).toContain("3. a build from source: there is no `go` on PATH");
    expect(message).toContain("Fix: Install Go 1.21.3 or newer");
  });

  test("the error for an old Go names the required version", async () => {
    const { env } = await machine();
    const programs = await tinyPrograms("1.999");
    const none = provideEngine({ env, version, programs, ...heardProgress() });
    const message = await none.catch((error: Error) => error.message);
    expect(message).toMatch(/go\.mod requires go >= 1\.999/);
    expect(message).toContain("Install Go 1.999 or newer");
  });
});
