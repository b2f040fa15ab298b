import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, statSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import { createSecureServer, type Http2SecureServer, type Http2ServerResponse } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { version } from "../../package.json";
import { provideHosts } from "../../tools/engine/provide.js";
import { thisPlatform } from "../../tools/release/platforms.js";
import { writeRelease } from "../../tools/release/write.js";
import { providedBin, registryEnv } from "../tools/provide";
import { testUnless, withoutGo } from "../tools/sdk";

const run = promisify(execFile);
const released = testUnless(withoutGo);
const archive = `pulumi-resource-recommender-v${version}-${thisPlatform()}.tar.gz`;

let directory: string;
let server: Server;
let address: string;
let checksum: string;
let env: NodeJS.ProcessEnv;
const asked: string[] = [];

beforeAll(async () => {
  if (withoutGo) return;
  directory = await realpath(await mkdtemp(join(tmpdir(), "recommender-release-")));
  for (const name of ["home", "state", "temporary"]) await mkdir(join(directory, name));
  const folder = join(directory, "release");
  Object.assign(process.env, registryEnv());
  const [{ bin }, { files }] = await Promise.all([
    provideHosts(),
    writeRelease({ folder, only: [thisPlatform()] }),
  ]);
  checksum = files.find(({ file }) => file === archive)?.sha256 ?? "";
  server = createServer(serve);
  address = `http://${await listen(server)}`;
  // As on a machine that has the engine and nothing else.
  env = {
    PATH: [bin, providedBin()].join(delimiter),
    HOME: directory,
    TMPDIR: join(directory, "temporary"),
    PULUMI_HOME: join(directory, "home"),
    PULUMI_BACKEND_URL: `file://${join(directory, "state")}`,
    PULUMI_CONFIG_PASSPHRASE: "test",
    PULUMI_SKIP_UPDATE_CHECK: "1",
    RECOMMENDER_JOB_POLL_MS: "50",
  };
});
function serve(
  { url = "" }: { url?: string | undefined },
  response: ServerResponse | Http2ServerResponse,
): void {
  const file = join(directory, "release", url);
  asked.push(url);
  // The engine wants to know how much comes.
  response.setHeader("content-length", statSync(file).size);
  createReadStream(file).pipe(response);
}

async function listen(server: Server | Http2SecureServer): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterAll(async () => {
  server?.close();
  if (directory) await rm(directory, { recursive: true });
});

async function pulumi(folder: string, ...args: string[]): Promise<string> {
  const options = { cwd: folder, env };
  const { stdout } = await run("pulumi", [...args, "--non-interactive"], options).catch((error) =>
    Promise.reject(new Error(`${error.stdout}\n${error.stderr}`)),
  );
  return stdout;
}

const installed = () => join(directory, "home/plugins", `resource-recommender-v${version}`);

released("the checksums of a release are those of its files", async () => {
  const folder = join(directory, "release");
  const names = (await readdir(folder)).filter((name) => name !== "SHA256SUMS").sort();
  const lines = names.map(async (name) => {
    const hash = createHash("sha256").update(await readFile(join(folder, name)));
    return `${hash.digest("hex")}  ${name}\n`;
  });
  expect(await readFile(join(folder, "SHA256SUMS"), "utf8")).toBe((await Promise.all(lines)).join(""));
  expect(names).toEqual(["RELEASE-NOTES.md", "manifest.json", archive, "sbom.cdx.json"]);
});

released(
  "the bill of materials names what is bundled, Node among it, and nothing for development",
  async () => {
    const text = await readFile(join(directory, "release/sbom.cdx.json"), "utf8");
    const { components, metadata } = JSON.parse(text) as {
      components: { name: string }[];
      metadata: { component: { name: string } };
    };
    const names = components.map(({ name }) => name);
    expect(metadata.component.name).toBe("pulumi-recommender");
    expect(names).toEqual(expect.arrayContaining(["zod", "libsql", "@pulumi/pulumi", "fastify", "node"]));
    expect(names).not.toContain("jest");
  },
);

released("the engine installs the plugin from a server", async () => {
  await pulumi(directory, "plugin", "install", "resource", "recommender", version, "--server", address);
  expect(asked).toEqual([`/${archive}`]);
  expect(await pulumi(directory, "plugin", "ls")).toMatch(new RegExp(`recommender +resource +${version}`));
});

// Over HTTP/1.1 the engine (3.259) refuses every checksum: it leaves the last piece out of its own.
const trusting = process.platform === "linux" ? undefined : "only on Linux Go trusts SSL_CERT_FILE";
testUnless(withoutGo ?? trusting)(
  "over HTTP/2 it takes an archive that has the checksum, and no other",
  async () => {
    const folder = await mkdtemp(join(directory, "certificate-"));
    const { stdout: goRoot } = await run("go", ["env", "GOROOT"]);
    const generate = join(goRoot.trim(), "src/crypto/tls/generate_cert.go");
    await run("go", ["run", generate, "--host", "127.0.0.1", "--ecdsa-curve", "P256"], { cwd: folder });
    const [key, cert] = await Promise.all(
      ["key.pem", "cert.pem"].map((name) => readFile(join(folder, name))),
    );
    const secure = createSecureServer({ key, cert }, serve);
    const plugin = ["resource", "recommender", version, "--server", `https://${await listen(secure)}`];
    const trusted = { ...env, PULUMI_HOME: folder, SSL_CERT_FILE: join(folder, "cert.pem") };
    const install = (sum: string) =>
      run("pulumi", ["plugin", "install", ...plugin, "--checksum", sum], { cwd: directory, env: trusted });
    await expect(install(checksum.replace(/./, (digit) => (digit === "0" ? "1" : "0")))).rejects.toThrow(
      /invalid checksum/,
    );
    await install(checksum);
    secure.close();
    await rm(folder, { recursive: true });
  },
);

released("without any Node on PATH the quick start comes up on its embedded service, and goes", async () => {
  expect(spawnSync("node", { env }).error).toMatchObject({ code: "ENOENT" });
  await cp(join(__dirname, "../../examples"), join(directory, "examples"), { recursive: true });
  const folder = join(directory, "examples/yaml");
  try {
    await pulumi(folder, "stack", "init", "test");
    await pulumi(folder, "up", "--yes", "--skip-preview");
    const outputs = JSON.parse(await pulumi(folder, "stack", "output", "--json"));
    expect(outputs.forAda).toHaveLength(3);
    expect(await pulumi(folder, "destroy", "--yes", "--skip-preview")).toMatch(/21 deleted/);
  } finally {
    const stop = [join(installed(), "dist/cli/main.js"), "stop"];
    await run(join(installed(), "node"), stop, { cwd: folder, env });
  }
});

released("a program that names the server gets the plugin by itself", async () => {
  await rm(installed(), { recursive: true });
  asked.length = 0;
  const events = {
    type: "recommender:EventDataset",
    properties: { numShards: 1 },
    options: { version, pluginDownloadURL: address },
  };
  const program = { name: "test", runtime: "yaml", resources: { events } };
  await writeFile(join(directory, "Pulumi.yaml"), stringify(program));
  await pulumi(directory, "stack", "init", "test");
  expect(await pulumi(directory, "preview")).toMatch(/recommender:index:EventDataset +events +create/);
  expect(asked).toEqual([`/${archive}`]);
});
