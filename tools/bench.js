const fs = require("node:fs");
const path = require("node:path");
const { CommandFailed, run, runCommand } = require("./command.js");
const { buildPackage, installPackages, root } = require("./setup.js");

const directory = path.join(root, "bench");

/**
 * `npm run bench [NAME …]`: runs the named benchmarks, or all, and updates the tables in docs/performance.md.
 * `npm run bench -- --table` only updates the tables. `npm run bench -- quality --sequences FILE` or
 * `--train FILE --test FILE` measures these files and writes nothing.
 */
runCommand(async () => {
  const known = fs
    .readdirSync(directory)
    .flatMap((file) => (file.endsWith(".ts") ? [file.slice(0, -3)] : []));
  const all = process.argv.slice(2).filter((name) => name !== "--table");
  // The arguments of a benchmark follow its name and start with an option.
  const options = all.findIndex((argument) => argument.startsWith("--"));
  const given = options < 0 ? all : all.slice(0, options);
  const passed = options < 0 ? [] : all.slice(options);
  const names = process.argv.length > 2 ? given : known;
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`Unknown benchmark: ${unknown.join(", ")}. Use one of: ${known.join(", ")}.`);
  }
  await installPackages();
  await buildPackage();
  const { bin } = await require("./engine/provide.js").provideEngine();
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ""}` };

  const runFile = (/** @type {string} */ file, /** @type {string[]} */ args = []) =>
    run(process.execPath, [require.resolve("tsx/cli"), path.join(directory, file), ...args], {
      cwd: root,
      env,
    });

  const failed = [];
  for (const name of names) {
    console.log(`\n${name}`);
    try {
      await runFile(`${name}.ts`, passed);
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      failed.push(name);
    }
  }
  await runFile("report/table.ts");
  if (failed.length > 0) throw new Error(`Failed: ${failed.join(", ")}.`);
});
