const { execFileSync, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

/** PostgreSQL does not run as root. The user `nobody` exists on every system that has root. */
const nobody = 65534;
const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

/** Gives a file to the user that runs PostgreSQL. @param {string} file */
function giveToServer(file) {
  if (user.uid !== undefined) fs.chownSync(file, nobody, nobody);
}

/** Creates an empty data directory. @param {string} initdb @param {string} data */
function createData(initdb, data) {
  execFileSync(
    initdb,
    ["-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"],
    { ...user, cwd: "/", stdio: ["ignore", "ignore", "inherit"] },
  );
}

/**
 * Mounts a small disk for tables that a test can fill. Only root on Linux can mount one.
 * @param {string} directory @param {number} megabytes @returns {string | undefined}
 */
function mountDisk(directory, megabytes) {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  const disk = path.join(directory, "disk");
  fs.mkdirSync(disk);
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", disk]);
  if (status !== 0) return undefined;
  fs.mkdirSync(path.join(disk, "tables"));
  for (const file of [disk, path.join(disk, "tables")]) giveToServer(file);
  return disk;
}

/**
 * Copies the data of a running server, as `pg_basebackup` does, which the npm package does not contain. A server on the
 * copy is a standby of the running server.
 * @param {{ url: string, data: string }} primary @param {string} data @param {string | undefined} disk
 */
async function copyPrimary(primary, data, disk) {
  const { Client } = require("pg");
  const client = new Client({ connectionString: primary.url });
  await client.connect();
  await client.query("select pg_backup_start('standby', true)");
  copyChanging(primary.data, data);
  const tablespaces = path.join(data, "pg_tblspc");
  for (const name of fs.readdirSync(tablespaces)) {
    const tables = path.join(String(disk), "tables");
    copyChanging(`${fs.readlinkSync(path.join(tablespaces, name))}/.`, tables);
    fs.rmSync(path.join(tablespaces, name));
    fs.symlinkSync(tables, path.join(tablespaces, name));
  }
  const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
  await client.end();
  for (const name of ["postmaster.pid", "postmaster.opts"]) fs.rmSync(path.join(data, name));
  const { hostname, port } = new URL(primary.url);
  const files = {
    backup_label: rows[0].labelfile,
    "standby.signal": "",
    "postgresql.auto.conf": `primary_conninfo = 'host=${hostname} port=${port} user=postgres application_name=standby'\n`,
  };
  for (const [name, text] of Object.entries(files)) {
    fs.writeFileSync(path.join(data, name), text);
    giveToServer(path.join(data, name));
  }
}

/** Copies a directory whose files may disappear during the copy. @param {string} from @param {string} to */
function copyChanging(from, to) {
  const { status, error } = spawnSync("cp", ["-a", from, to], { stdio: "ignore" });
  // `cp` exits with 1 if a file has disappeared.
  if (error || Number(status) > 1) throw error ?? new Error(`Cannot copy ${from}.`);
}

module.exports = { user, giveToServer, createData, mountDisk, copyPrimary };
