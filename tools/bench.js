const fs = require("node:fs");
const path = require("node:path");
const { CommandFailed, run, runCommand } = require("./command.js");
const { buildPackage, installPackages, root } = require("./setup.js");

const folder = path.join(root, "bench");

/**
 * `npm run bench [NAME …]`: measures all or the named, one after the other, and writes the results into the document
 * about performance. `npm run bench -- --table` only does the latter.
 */
runCommand(async () => {
  const known = fs.readdirSync(folder).flatMap((file) => (file.endsWith(".ts") ? [file.slice(0, -3)] : []));
  const given = process.argv.slice(2).filter((name) => name !== "--table");
  const names = process.argv.length > 2 ? given : known;
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`There is no benchmark ${unknown.join(", ")}. There are: ${known.join(", ")}.`);
  }
  await installPackages();
  await buildPackage();
  const { bin } = await require("./engine/provide.js").provideEngine();
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ""}` };

  const runFile = (/** @type {string} */ file) =>
    run(process.execPath, [require.resolve("tsx/cli"), path.join(folder, file)], { cwd: root, env });

  const failed = [];
  for (const name of names) {
    console.log(`\n${name}`);
    try {
      await runFile(`${name}.ts`);
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      failed.push(name);
    }
  }
  await runFile("report/table.ts");
  if (failed.length > 0) throw new Error(`Failed: ${failed.join(", ")}.`);
});
