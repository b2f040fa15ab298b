const { execFile } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { Readable, Transform } = require("node:stream");
const { pipeline } = require("node:stream/promises");
const { promisify } = require("node:util");
const { EnvHttpProxyAgent, fetch } = require("undici");
const { pinnedHosts } = require("./pinned.js");
const { executable, fileNames } = require("./programs.js");
const { SourceUnavailable, reasonOf } = require("./errors.js");

const limits = { connectMs: 5_000, headersMs: 15_000, stallMs: 30_000 };

/**
 * Returns the name of Pulumi's archive for a platform.
 * @param {string} version
 * @param {NodeJS.Platform} platform
 * @param {string} arch
 */
function archiveName(version, platform = process.platform, arch = process.arch) {
  const systems = new Map([
    ["linux", "linux"],
    ["darwin", "darwin"],
    ["win32", "windows"],
  ]);
  const system = systems.get(platform);
  if (system === undefined || !["x64", "arm64"].includes(arch)) {
    throw new SourceUnavailable(
      `Pulumi publishes no engine for ${platform} on ${arch}`,
      "Use Linux, macOS or Windows on x64 or arm64.",
    );
  }
  return `pulumi-v${version}-${system}-${arch}.${system === "windows" ? "zip" : "tar.gz"}`;
}

/**
 * Downloads the official release into `bin`.
 * @param {{ version: string, base: string, bin: string, progress: import("./progress.js").Progress,
 *   signal: AbortSignal }} options
 */
async function downloadEngine({ version, base, bin, progress, signal }) {
  const name = archiveName(version);
  const address = `${base}/${name}`;
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: limits.connectMs },
    headersTimeout: limits.headersMs,
    bodyTimeout: limits.stallMs,
  });
  const get = (/** @type {string} */ url) => fetch(url, { dispatcher, signal });
  try {
    const sums = await get(`${base}/pulumi-${version}-checksums.txt`);
    const published = sums.ok ? checksumOf(await sums.text(), name) : undefined;
    if (published === undefined) progress.say(`no checksum is published for ${name}`);

    const response = await get(address);
    if (!response.ok || response.body === null) throw new Error(`${address} returned ${response.status}`);
    const archive = path.join(bin, "..", name);
    const totalBytes = Number(response.headers.get("content-length"));
    progress.say(`downloading ${address}`);
    const sum = await save(Readable.fromWeb(response.body), archive, (bytes) =>
      progress.at(downloaded(bytes, totalBytes)),
    );
    if (published !== undefined && sum !== published) {
      throw new Error(`${name} has SHA-256 ${sum}, but ${published} is published. The file was deleted`);
    }
    progress.say("unpacking");
    await unpack(archive, bin, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new SourceUnavailable(
      reasonOf(error),
      `Make ${new URL(base).host} reachable, for example through HTTPS_PROXY, and run this again.`,
    );
  } finally {
    await dispatcher.destroy();
  }
}

/** @param {string} sums @param {string} name */
function checksumOf(sums, name) {
  const line = sums.split("\n").find((text) => text.trim().split(/\s+/)[1]?.replace("*", "") === name);
  return line?.trim().split(/\s+/)[0]?.toLowerCase();
}

/**
 * Writes a stream to a file and returns its SHA-256.
 * @param {Readable} body
 * @param {string} file
 * @param {(bytes: number) => void} onBytes
 */
async function save(body, file, onBytes) {
  const hash = createHash("sha256");
  let bytes = 0;
  const measure = new Transform({
    transform(chunk, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      onBytes(bytes);
      done(null, chunk);
    },
  });
  await pipeline(body, measure, fs.createWriteStream(file));
  return hash.digest("hex");
}

/**
 * Unpacks the three programs of the engine, and the language hosts that tests of other languages need.
 * @param {string} archive
 * @param {string} bin
 * @param {AbortSignal} signal
 */
async function unpack(archive, bin, signal) {
  const unpacked = path.join(bin, "..", "unpacked");
  await fs.promises.mkdir(unpacked);
  // The `tar` of Windows 10 and newer also reads zip files.
  await promisify(execFile)("tar", ["-xf", archive, "-C", unpacked], { signal });
  const names = await fs.promises.readdir(unpacked, { recursive: true });
  const program = names
    .filter((name) => path.basename(name) === executable("pulumi"))
    .map((name) => path.join(unpacked, name))
    .find((file) => fs.statSync(file).isFile());
  if (program === undefined)
    throw new Error(`${path.basename(archive)} does not contain ${executable("pulumi")}`);
  const directory = path.dirname(program);
  for (const file of fileNames) await fs.promises.rename(path.join(directory, file), path.join(bin, file));
  const hosts = pinnedHosts.flatMap(({ name, companion }) => [
    executable(name),
    ...(companion ? [companion] : []),
  ]);
  for (const file of hosts.filter((name) => fs.existsSync(path.join(directory, name))))
    await fs.promises.rename(path.join(directory, file), path.join(bin, file));
  await fs.promises.rm(unpacked, { recursive: true });
  await fs.promises.rm(archive);
}

/** @param {number} bytes @param {number} totalBytes */
function downloaded(bytes, totalBytes) {
  const megabytes = (/** @type {number} */ count) => (count / 1e6).toFixed(1);
  if (!(totalBytes > 0)) return `downloading ${megabytes(bytes)} MB`;
  const percent = Math.floor((bytes / totalBytes) * 100);
  return `downloading ${percent} % (${megabytes(bytes)} of ${megabytes(totalBytes)} MB)`;
}

module.exports = { archiveName, downloadEngine };
