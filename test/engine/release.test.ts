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
import { readArchive } from "../../tools/release/archive.js";
import { nodeVersion, platforms, thisPlatform } from "../../tools/release/platforms.js";
import { providedBin, registryEnv } from "../tools/provide";
import { compileMs, python, withoutGo } from "../tools/sdk";
import { testUnless } from "../unless";
import { bundledPackages, type PluginArchive, readPlugin, releaseTools, repository } from "./released-files";

const run = promisify(execFile);
const { bin: pythonBin, missing: withoutPython } = withoutGo ? { bin: "", missing: withoutGo } : python();
const released = testUnless(withoutGo, compileMs);
const archiveOf = (platform: string) => `pulumi-resource-recommender-v${version}-${platform}.tar.gz`;
const archive = archiveOf(thisPlatform());
const npmPackage = `pulumi-recommender-${version}.tgz`;
const webPackage = `pulumi-recommender-web-${version}.tgz`;
const wheel = `pulumi_recommender-${version}-py3-none-any.whl`;
/** Parts of the release. The SDKs need Python. */
const parts = withoutPython ? ["package", "web", ...Object.keys(platforms)] : [];
const sdkOf = (language: string) => `pulumi-recommender-sdk-${language}-v${version}.tar.gz`;

/** Time limit for the first build of the generators and the download of Node for each platform, which take minutes. */
const setUpMs = 1_200_000;

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
  const { bin } = await provideHosts();
  // The Python of the tests has the packages to build a wheel, which would be downloaded otherwise.
  const path = [pythonBin, process.env.PATH].join(delimiter);
  Object.assign(process.env, registryEnv(), { PATH: path, PIP_NO_BUILD_ISOLATION: "0" });
  const { writeRelease } = await releaseTools(join(directory, "checkout"));
  const { files } = await writeRelease({ directory: join(directory, "release"), only: parts });
  checksum = files.find(({ file }) => file === archive)?.sha256 ?? "";
  server = createServer(serve);
  address = `http://${await listen(server)}`;
  // As on a machine with only the engine.
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
}, setUpMs);

function serve(
  { url = "" }: { url?: string | undefined },
  response: ServerResponse | Http2ServerResponse,
): void {
  const file = join(directory, "release", url);
  asked.push(url);
  // The engine requires the content length.
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

async function pulumi(cwd: string, ...args: string[]): Promise<string> {
  const options = { cwd, env };
  const { stdout } = await run("pulumi", [...args, "--non-interactive"], options).catch((error) =>
    Promise.reject(new Error(`${error.stdout}\n${error.stderr}`)),
  );
  return stdout;
}

const installed = () => join(directory, "home/plugins", `resource-recommender-v${version}`);

const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const read = (name: string) => readFile(join(directory, "release", name));

released(
  "a release contains the packages, a plugin for each platform and the SDKs, each with its checksum",
  async () => {
    const released = join(directory, "release");
    const names = (await readdir(released)).sort();
    expect(names).toEqual(
      [
        ...["RELEASE-NOTES.md", "SHA256SUMS", "manifest.json", "sbom.cdx.json", npmPackage, webPackage],
        ...(withoutPython ? [] : [wheel, ...["go", "dotnet", "java"].map(sdkOf)]),
        ...["linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64"].map(archiveOf),
      ].sort(),
    );
    const summed = names.filter((name) => name !== "SHA256SUMS");
    const lines = await Promise.all(summed.map(async (name) => `${hashOf(await read(name))}  ${name}\n`));
    expect(await readFile(join(released, "SHA256SUMS"), "utf8")).toBe(lines.join(""));
    const manifest = JSON.parse(await readFile(join(released, "manifest.json"), "utf8"));
    expect(manifest).toMatchObject({ version, node: nodeVersion });
    const described = summed.filter((name) => name !== "manifest.json");
    expect(manifest.files).toEqual(
      await Promise.all(
        described.map(async (file) => {
          const bytes = await read(file);
          return { file, bytes: bytes.length, sha256: hashOf(bytes) };
        }),
      ),
    );
  },
);

released("the npm package holds what was compiled, the plugin and its schema, and no sources", async () => {
  const files = await readArchive(join(directory, "release", npmPackage), () => true);
  const names = files.map(({ name }) => name.replace(/^package\//, ""));
  expect([...new Set(names.map((name) => name.split("/")[0]))].sort()).toEqual([
    ...["CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", "action.yml", "ci"],
    ...[
      "deploy",
      "dist",
      "docs",
      "examples",
      "openapi.json",
      "package.json",
      "plugin",
      "policy-pack",
      "schema.json",
    ],
  ]);
  const entries = ["provider/index.js", "provider/index.d.ts", "provider/plugin/main.js", "cli/main.js"];
  expect(names).toEqual(expect.arrayContaining(entries.map((name) => `dist/${name}`)));
  expect(names.filter((name) => /^dist\/(\.|.*(?<!\.d)\.ts$)/.test(name))).toEqual([]);
  const started = files.filter(({ executable }) => executable).map(({ name }) => name);
  expect(started).toContain("package/plugin/pulumi-resource-recommender");
  expect(started).toContain("package/dist/cli/main.js");
});

testUnless(withoutGo ?? withoutPython, compileMs)(
  "each SDK contains the metadata of its language",
  async () => {
    const list = ["-m", "zipfile", "-l", join(directory, "release", wheel)];
    const { stdout } = await run(join(pythonBin, "python"), list);
    for (const name of ["__init__.py", "trained_model.py", "pulumi-plugin.json"])
      expect(stdout).toContain(`pulumi_recommender/${name}`);
    const needed = {
      go: ["go.mod", "go.sum", "recommender/trainedModel.go", "recommender/pulumi-plugin.json"],
      dotnet: ["Pulumi.Recommender.csproj", "TrainedModel.cs", "pulumi-plugin.json"],
      java: ["pom.xml", "src/main/java/com/pulumi/recommender/TrainedModel.java"],
    };
    for (const [language, names] of Object.entries(needed)) {
      const files = await readArchive(join(directory, "release", sdkOf(language)), () => true);
      expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    }
  },
);

const plugins = new Map<string, Promise<PluginArchive>>();
/** Reads the archive of a platform once, because that takes a second. */
function pluginOf(platform: string): Promise<PluginArchive> {
  const plugin = plugins.get(platform) ?? readPlugin(join(directory, "release", archiveOf(platform)));
  plugins.set(platform, plugin);
  return plugin;
}

released(
  "the plugin of each platform contains its command, Node, the database and the licences",
  async () => {
    const schema = JSON.parse(await readFile(join(repository, "schema.json"), "utf8"));
    for (const [platform, { libsql, windows }] of Object.entries(platforms)) {
      const { files, compiled } = await pluginOf(platform);
      const [shim, node] = windows
        ? ["pulumi-resource-recommender.cmd", "node.exe"]
        : ["pulumi-resource-recommender", "node"];
      const own = files.map(({ name }) => name).filter((name) => !name.startsWith("node_modules/"));
      expect({ platform, own }).toEqual({
        platform,
        own: [
          ...["LICENSE", "LICENSE-OF-NODE", "LICENSES-OF-OTHERS", "README.md", "schema.json", shim, node],
          ...["cli/main", "provider/plugin/main"].map((name) => `dist/${name}.js`),
          ...["helper", "watch", "worker"].map((name) => `dist/service/threads/${name}.js`),
        ].sort(),
      });
      const native = [node, ...libsql.map((name) => `node_modules/${name}/index.node`)];
      expect(compiled).toEqual(Object.fromEntries(native.map((name) => [name, platform])));
      const started = files.filter(({ executable }) => executable).map(({ name }) => name);
      expect(started).toEqual(expect.arrayContaining([shim, node]));
      const textOf = (name: string) => String(files.find((file) => file.name === name)?.bytes);
      expect(JSON.parse(textOf("schema.json"))).toEqual(schema);
      expect(textOf("LICENSE")).toContain("Apache License");
      expect(textOf("LICENSE-OF-NODE")).toContain("Node.js is licensed for use as follows");
    }
  },
);

released(
  "the bill of materials lists all bundled packages with licences, and no development packages",
  async () => {
    const { components, metadata } = JSON.parse((await read("sbom.cdx.json")).toString()) as {
      components: { name: string; version: string }[];
      metadata: { component: { name: string } };
    };
    expect(metadata.component.name).toBe("pulumi-recommender");
    const listed = components.map(({ name, version }) => `${name} ${version}`);
    expect(listed).toContain(`node ${nodeVersion}`);
    for (const platform of Object.keys(platforms)) {
      const { files } = await pluginOf(platform);
      const bundled = bundledPackages(files, repository);
      expect(bundled.map((one) => one.split(" ")[0])).toEqual(
        expect.arrayContaining(["zod", "libsql", "@pulumi/pulumi", "fastify", "@grpc/grpc-js"]),
      );
      expect(bundled.filter((one) => !listed.includes(one))).toEqual([]);
      const licences = String(files.find(({ name }) => name === "LICENSES-OF-OTHERS")?.bytes);
      const scripts = files.filter(({ name }) => name.startsWith("dist/"));
      const unlicensed = bundledPackages(scripts, repository).filter((one) => !licences.includes(`${one} (`));
      expect(unlicensed).toEqual([]);
    }
    const names = components.map(({ name }) => name);
    for (const tool of ["jest", "typescript", "esbuild"]) expect(names).not.toContain(tool);
  },
);

released("the engine installs the plugin from a server", async () => {
  await pulumi(directory, "plugin", "install", "resource", "recommender", version, "--server", address);
  expect(asked).toEqual([`/${archive}`]);
  expect(await pulumi(directory, "plugin", "ls")).toMatch(new RegExp(`recommender +resource +${version}`));
});

// Over HTTP/1.1 the engine (3.259) rejects every checksum, because it does not hash the last chunk.
const trusting = process.platform === "linux" ? undefined : "only on Linux Go trusts SSL_CERT_FILE";
testUnless(withoutGo ?? trusting, compileMs)(
  "over HTTP/2 the engine accepts an archive with the right checksum and no other",
  async () => {
    const certificates = await mkdtemp(join(directory, "certificate-"));
    const { stdout: goRoot } = await run("go", ["env", "GOROOT"]);
    const generate = join(goRoot.trim(), "src/crypto/tls/generate_cert.go");
    await run("go", ["run", generate, "--host", "127.0.0.1", "--ecdsa-curve", "P256"], { cwd: certificates });
    const [key, cert] = await Promise.all(
      ["key.pem", "cert.pem"].map((name) => readFile(join(certificates, name))),
    );
    const secure = createSecureServer({ key, cert }, serve);
    const plugin = ["resource", "recommender", version, "--server", `https://${await listen(secure)}`];
    const trusted = { ...env, PULUMI_HOME: certificates, SSL_CERT_FILE: join(certificates, "cert.pem") };
    const install = (sum: string) =>
      run("pulumi", ["plugin", "install", ...plugin, "--checksum", sum], { cwd: directory, env: trusted });
    await expect(install(checksum.replace(/./, (digit) => (digit === "0" ? "1" : "0")))).rejects.toThrow(
      /invalid checksum/,
    );
    await install(checksum);
    secure.close();
    await rm(certificates, { recursive: true });
  },
);

released("without any Node on PATH the quick start comes up on its embedded service, and goes", async () => {
  expect(spawnSync("node", { env }).error).toMatchObject({ code: "ENOENT" });
  await cp(join(__dirname, "../../examples"), join(directory, "examples"), { recursive: true });
  const example = join(directory, "examples/yaml");
  try {
    await pulumi(example, "stack", "init", "test");
    await pulumi(example, "up", "--yes", "--skip-preview");
    const outputs = JSON.parse(await pulumi(example, "stack", "output", "--json"));
    expect(outputs.forAda).toHaveLength(3);
    expect(await pulumi(example, "destroy", "--yes", "--skip-preview")).toMatch(/21 deleted/);
  } finally {
    const stop = [join(installed(), "dist/cli/main.js"), "stop"];
    await run(join(installed(), "node"), stop, { cwd: example, env });
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
