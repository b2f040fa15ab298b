const path = require("node:path");

// The library reads the version of the policy pack from package.json in the current directory.
process.chdir(path.join(__dirname, ".."));
try {
  require("../dist/provider/policy/pack.js");
} catch (error) {
  if (error.code !== "MODULE_NOT_FOUND" || !error.message.includes("'@pulumi/policy'")) throw error;
  console.error(
    "The policy pack needs a package that is not installed. Run `npm install --save-dev @pulumi/policy`.",
  );
  process.exit(1);
}
