const path = require("node:path");

/** The engine release this package is tested with. */
const pinnedVersion = "3.259.0";

/** The oldest engine on PATH that is used as it is; the same bound as the peer range of @pulumi/pulumi. */
const oldestVersion = "3.216.0";

/** Where the vendor publishes its releases. */
const officialBase = "https://get.pulumi.com/releases/sdk";

/**
 * One Go program of the engine, built out of a small module whose go.sum pins everything.
 * @typedef {object} GoProgram
 * @property {string} name file name of the program, without `.exe`
 * @property {string} directory where go.mod and go.sum lie
 * @property {string} package import path of its main package
 * @property {string} [versionVariable] variable the linker sets to the version
 * @property {{ file: string, from: string, to: string }} [correction] what is changed in its source before it is built
 * @property {string} [beside] a file next to the folder of its source that it needs next to itself
 */

/**
 * The language host stays at SDK 3.68.0: later releases moved it to a module of its own, which the Go
 * module proxy does not serve. It hands the program a relay of its own in place of the engine's resource monitor, and
 * that relay knows only the calls of its day: not those by which the SDK registers transforms and hooks. With the
 * engine's own address the program reaches them all.
 * @type {GoProgram[]}
 */
const pinnedPrograms = [
  {
    name: "pulumi",
    directory: path.join(__dirname, "pulumi"),
    package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    versionVariable: "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version",
  },
  {
    name: "pulumi-language-nodejs",
    directory: path.join(__dirname, "language-nodejs"),
    package: "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
    correction: {
      file: "main.go",
      from: 'maybeAppendArg("monitor", address)',
      to: 'maybeAppendArg("monitor", req.GetMonitorAddress())',
    },
  },
];

/**
 * The language hosts that tests of other languages need. The Python one is of the same module as the Node one; the YAML
 * one has the pins of the SDK generator, of which it shares most packages.
 * @type {GoProgram[]}
 */
const pinnedHosts = [
  {
    name: "pulumi-language-python",
    directory: path.join(__dirname, "language-nodejs"),
    package: "github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python",
    beside: "pulumi-language-python-exec",
  },
  {
    name: "pulumi-language-yaml",
    directory: path.join(__dirname, "../sdk"),
    package: "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
  },
];

/**
 * The S3-compatible server that tests keep models and results in.
 * @type {GoProgram[]}
 */
const pinnedBucketServer = [
  {
    name: "versitygw",
    directory: path.join(__dirname, "versitygw"),
    package: "github.com/versity/versitygw/cmd/versitygw",
  },
];

module.exports = {
  pinnedVersion,
  oldestVersion,
  officialBase,
  pinnedPrograms,
  pinnedHosts,
  pinnedBucketServer,
};
