const fs = require("node:fs");
const path = require("node:path");
const { CommandFailed, run, runCommand } = require("./command.js");
const { buildPackage, installPackages, root } = require("./setup.js");

const folder = path.join(root, "bench");

/** `npm run bench [NAME …]`: measures all or the named, one after the other. */
runCommand(async () => {
  const known = fs.readdirSync(folder).flatMap((file) => (file.endsWith(".ts") ? [file.slice(0, -3)] : []));
  const names = process.argv.length > 2 ? process.argv.slice(2) : known;
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`There is no benchmark ${unknown.join(", ")}. There are: ${known.join(", ")}.`);
  }
  await installPackages();
  await buildPackage();
  const { bin } = await require("./engine/provide.js").provideEngine();
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ""}` };

  const failed = [];
  for (const name of names) {
    console.log(`\n${name}`);
    const program = [require.resolve("tsx/cli"), path.join(folder, `${name}.ts`)];
    try {
      await run(process.execPath, program, { cwd: root, env });
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      failed.push(name);
    }
  }
  if (failed.length > 0) throw new Error(`Failed: ${failed.join(", ")}.`);
});
