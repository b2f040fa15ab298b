const { root } = require("../setup.js");
const { writeCompiled } = require("./compiled.js");

/** Writes what the processes load that tests start: `node write-compiled.js FOLDER`. */
writeCompiled(process.argv[2] ?? "", () => {
  for (const name of ["@pulumi/pulumi", "@pulumi/pulumi/cmd/run/tracing", "source-map-support"])
    require(name);
  for (const name of ["provider", "service"]) require(`${root}/dist/${name}/index.js`);
});
