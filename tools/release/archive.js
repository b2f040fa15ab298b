const fs = require("node:fs");
const path = require("node:path");
const { Header, Pack, ReadEntry, list } = require("tar");

/** @typedef {{ name: string, bytes: Buffer, executable?: boolean }} File */

/** The same for every file: an archive depends on nothing but what is in it. */
const mtime = new Date("1985-10-26T08:15:00Z");

/**
 * Writes files as a .tar.gz, in the order of their names, without anything of this machine.
 * @param {string} archive
 * @param {File[]} files
 */
async function writeArchive(archive, files) {
  const pack = new Pack({ gzip: true, portable: true });
  const written = pack.concat();
  for (const { name, bytes, executable } of [...files].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const mode = executable ? 0o755 : 0o644;
    const entry = new ReadEntry(new Header({ path: name, mode, mtime, size: bytes.length, type: "File" }));
    entry.end(bytes);
    pack.add(entry);
  }
  pack.end();
  await fs.promises.writeFile(archive, await written);
}

/**
 * The files of a .tar.gz that are wanted.
 * @param {string} archive
 * @param {(name: string) => boolean} isWanted
 * @returns {Promise<File[]>}
 */
async function readArchive(archive, isWanted) {
  /** @type {Promise<File>[]} */
  const files = [];
  await list({
    file: archive,
    filter: isWanted,
    onReadEntry: (entry) => {
      const executable = ((entry.mode ?? 0) & 0o111) !== 0;
      files.push(entry.concat().then((bytes) => ({ name: entry.path, bytes, executable })));
    },
  });
  return Promise.all(files);
}

/**
 * The files under a folder, by their paths in it.
 * @param {string} folder
 * @returns {File[]}
 */
function filesIn(folder) {
  return fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => fs.statSync(path.join(folder, name)).isFile())
    .map((name) => ({
      name: name.replaceAll(path.sep, "/"),
      bytes: fs.readFileSync(path.join(folder, name)),
    }));
}

module.exports = { writeArchive, readArchive, filesIn };
