import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { cp, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { create } from "tar";
import { archiveName } from "../../tools/engine/download.js";
import { fileNames, versionOf } from "../../tools/engine/programs.js";
import { provideEngine, provideHosts, whyUnavailable } from "../../tools/engine/provide.js";
import { contentsOf, heardProgress, providedBin, startProviding, temporaryDirectory } from "./provide";

/** The ways in which the download site of a test differs from the real one. */
interface Behaviour {
  checksum?: string | undefined;
  /** The number of bytes after which the site closes the connection or stops sending. */
  cutAfterBytes?: number;
  silentAfterBytes?: number;
}

const hosts = ["pulumi-language-python", "pulumi-language-python-exec", "pulumi-language-yaml"];

describe("the official download", () => {
  const version = versionOf(join(providedBin(), "pulumi"));
  let server: Server;
  let archive: string;
  let checksum: string;
  let behaviour: Behaviour;

  beforeAll(async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, "pulumi"));
    for (const name of hosts) await writeFile(join(directory, "pulumi", name), "a language host");
    for (const name of fileNames) await cp(join(providedBin(), name), join(directory, "pulumi", name));
    archive = join(directory, archiveName(version));
    await create({ file: archive, cwd: directory, gzip: { level: 1 } }, ["pulumi"]);
    checksum = createHash("sha256")
      .update(await readFile(archive))
      .digest("hex");
    server = createServer(async (request, response) => {
      if (request.url === `/sdk/pulumi-${version}-checksums.txt` && behaviour.checksum !== undefined) {
        response.end(`${"0".repeat(64)}  other.tar.gz\n${behaviour.checksum}  ${archiveName(version)}\n`);
      } else if (request.url === `/sdk/${archiveName(version)}`) {
        response.setHeader("content-length", (await stat(archive)).size);
        const end = behaviour.cutAfterBytes ?? behaviour.silentAfterBytes;
        const body = createReadStream(archive, end === undefined ? {} : { end });
        body.pipe(response, { end: end === undefined });
        if (behaviour.cutAfterBytes) body.on("end", () => setTimeout(() => response.destroy(), 50));
      } else {
        response.writeHead(404).end();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** A machine that has neither an engine nor Go. */
  async function machine(): Promise<{ env: NodeJS.ProcessEnv; cache: string }> {
    const cache = await temporaryDirectory();
    const { port } = server.address() as AddressInfo;
    const base = `http://127.0.0.1:${port}/sdk`;
    return {
      cache,
      env: { PATH: "/nowhere", RECOMMENDER_ENGINE_CACHE: cache, RECOMMENDER_ENGINE_DOWNLOAD: base },
    };
  }

  test("is verified, unpacked and cached", async () => {
    behaviour = { checksum };
    const { env, cache } = await machine();
    const { progress, heard } = heardProgress();
    const engine = await provideEngine({ env, version, progress });
    expect(engine).toMatchObject({ version, source: "download" });
    expect(versionOf(join(engine.bin, "pulumi"))).toBe(version);
    expect(heard.join("")).toMatch(/downloading \d+ % \(\d+\.\d of \d+\.\d MB\)/);
    expect(heard.join("")).not.toContain("no checksum");
    expect(await contentsOf(cache)).toHaveLength(1);
    expect(await contentsOf(join(engine.bin, ".."))).toEqual(["bin", "engine.json"]);
  });

  test("contains the language hosts, so a machine without Go has them too", async () => {
    behaviour = { checksum };
    const { env } = await machine();
    expect(whyUnavailable("hosts", env)).toMatch(/pulumi-language-yaml.* on PATH, and no `go` to build it/);
    const { bin } = await provideEngine({ env, version, ...heardProgress() });
    expect(whyUnavailable("hosts", env)).toBeUndefined();
    expect(await provideHosts({ env, ...heardProgress() })).toEqual({ bin });
  });

  test("is rejected if its checksum differs from the published one", async () => {
    behaviour = { checksum: "f".repeat(64) };
    const { env, cache } = await machine();
    await expect(provideEngine({ env, version, ...heardProgress() })).rejects.toThrow(
      new RegExp(`has SHA-256 ${checksum}, but f{64} is published. The file was deleted`),
    );
    expect(await contentsOf(cache)).toEqual([]);
  });

  test("reports that no checksum is published", async () => {
    behaviour = {};
    const { env } = await machine();
    const { progress, heard } = heardProgress();
    await provideEngine({ env, version, progress });
    expect(heard.join("")).toContain("no checksum is published for");
  });

  test("leaves no files behind when the connection breaks", async () => {
    behaviour = { checksum, cutAfterBytes: 1_000_000 };
    const { env, cache } = await machine();
    await expect(provideEngine({ env, version, ...heardProgress() })).rejects.toThrow(
      /2\. the official download: /,
    );
    expect(await contentsOf(cache)).toEqual([]);
  });

  test("leaves no files behind when it is interrupted", async () => {
    behaviour = { checksum, silentAfterBytes: 1_000_000 };
    const { env, cache } = await machine();
    const run = startProviding({ version }, env);
    await run.hasSaid("downloading");
    expect(await contentsOf(cache)).not.toEqual([]);
    run.process.kill("SIGTERM");
    expect(await run.ended).toMatchObject({ code: 1 });
    expect(run.said()).toContain("stopped by SIGTERM");
    expect(await contentsOf(cache)).toEqual([]);
  });
});

test.each([
  ["linux", "x64", "pulumi-v3.259.0-linux-x64.tar.gz"],
  ["darwin", "arm64", "pulumi-v3.259.0-darwin-arm64.tar.gz"],
  ["win32", "x64", "pulumi-v3.259.0-windows-x64.zip"],
] as const)("the archive for %s on %s is %s", (platform, arch, name) => {
  expect(archiveName("3.259.0", platform, arch)).toBe(name);
});

test("the error for an unsupported platform names it", () => {
  expect(() => archiveName("3.259.0", "freebsd", "x64")).toThrow(/no engine for freebsd on x64/);
});
