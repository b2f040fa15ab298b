const fs = require("node:fs");
const path = require("node:path");
const { Header, Pack, ReadEntry, list } = require("tar");

/** @typedef {{ name: string, bytes: Buffer, executable?: boolean }} File */

/** The modification time of every file in an archive, so the same content gives the same checksum. */
const mtime = new Date("1985-10-26T08:15:00Z");

/**
 * Writes files as a .tar.gz, sorted by name and without owners or times of this machine.
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
 * Reads selected files of a .tar.gz.
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
 * Reads all files in a directory. Their names are relative to it.
 * @param {string} directory
 * @returns {File[]}
 */
function filesIn(directory) {
  return fs
    .readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => fs.statSync(path.join(directory, name)).isFile())
    .map((name) => ({
      name: name.replaceAll(path.sep, "/"),
      bytes: fs.readFileSync(path.join(directory, name)),
    }));
}

module.exports = { writeArchive, readArchive, filesIn };
