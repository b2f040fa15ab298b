const path = require("node:path");

/** The engine version that this package is tested with. */
const pinnedVersion = "3.259.0";

/** The oldest version that is accepted on PATH: the lower bound of the peer dependency @pulumi/pulumi. */
const oldestVersion = "3.216.0";

/** The URL of Pulumi's releases. */
const officialBase = "https://get.pulumi.com/releases/sdk";

/**
 * A Go program, built from a small module whose go.sum pins all dependencies.
 * @typedef {object} GoProgram
 * @property {string} name file name of the program, without `.exe`
 * @property {string} directory with go.mod and go.sum
 * @property {string} package import path of its main package
 * @property {string} [versionVariable] variable that the linker sets to the version
 * @property {{ file: string, from: string, to: string }[]} [patches] changes to its source before the build
 * @property {string} [companion] a file next to its source directory, which must be copied next to the program
 */

/**
 * The programs of the engine. The language host stays at SDK 3.68.0, because later releases moved it to a module that the
 * Go module proxy does not serve. This old host gives the program the address of a proxy in front of the engine's resource
 * monitor. The proxy lacks newer calls, such as those that register transforms and hooks. The first patch passes the
 * engine's own address instead. This host cannot run plugins either, and the engine runs a policy pack as a
 * plugin. The second patch adds that, with the code in language-nodejs/policy_pack.go.
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
    patches: [
      {
        file: "main.go",
        from: 'maybeAppendArg("monitor", address)',
        to: 'maybeAppendArg("monitor", req.GetMonitorAddress())',
      },
      {
        file: "main.go",
        from: 'return errors.New("not supported")',
        to: "return runPolicyPack(req, server)",
      },
    ],
  },
];

/**
 * The language hosts that tests of other languages need. The Python host is in the same module as the Node host. The YAML
 * host uses the go.mod of the SDK generator, because they share most dependencies.
 * @type {GoProgram[]}
 */
const pinnedHosts = [
  {
    name: "pulumi-language-python",
    directory: path.join(__dirname, "language-nodejs"),
    package: "github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python",
    companion: "pulumi-language-python-exec",
  },
  {
    name: "pulumi-language-yaml",
    directory: path.join(__dirname, "../sdk"),
    package: "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
  },
];

/**
 * The S3-compatible server that tests use as storage for models and results.
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
