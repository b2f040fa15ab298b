const { run, runCommand } = require("./command.js");
const { installPackages, root } = require("./setup.js");

/**
 * Runs test files at length, told by whole numbers on the command line.
 * @param {string[]} files
 * @param {[variable: string, usual?: string][]} numbers the test's variables in the order they are given in
 */
function testAtLength(files, numbers) {
  runCommand(async () => {
    const env = { ...process.env };
    numbers.forEach(([variable, usual], at) => {
      const text = process.argv[2 + at] ?? usual;
      if (text === undefined) return;
      if (!/^-?\d+$/.test(text))
        throw new Error(`${variable} must be a whole number, not ${JSON.stringify(text)}.`);
      env[variable] = text;
    });
    await installPackages();
    const jest = require.resolve("jest/bin/jest");
    // The whole path: other tests may have the same words in their names.
    await run(process.execPath, [jest, "--runTestsByPath", ...files], { cwd: root, env });
  });
}

module.exports = { testAtLength };
