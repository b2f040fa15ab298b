const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { run } = require("../command.js");
const { root } = require("../setup.js");

/** The languages with a generated SDK. The TypeScript package is written by hand, and YAML needs none. */
const languages = ["python", "go", "dotnet", "java"];

const schemaFile = path.join(root, "schema.json");
const { version } = require("../../package.json");

/** Go needs no C compiler, and a go.work file in a parent directory must not override the pinned versions. */
const goEnvironment = () => ({ ...process.env, CGO_ENABLED: "0", GOWORK: "off" });

/**
 * Runs the generator of tools/sdk.
 * @param {string[]} args
 */
function generator(args) {
  /** @type {import("../command.js").RunOptions} */
  const options = { cwd: __dirname, env: goEnvironment(), stdout: 2 };
  return run("go", ["run", "-mod=readonly", "-buildvcs=false", ".", ...args], options);
}

/** Checks that the engine and the generators can read the schema. */
const checkSchema = () => generator(["check", schemaFile]);

/**
 * Writes the SDK of each language to `directory/LANGUAGE`. With `pluginDownloadURL`, programs that use the SDKs install the
 * plugin automatically.
 * @param {string} directory
 * @param {string[]} wanted
 * @param {string} [pluginDownloadURL]
 */
async function generateSdks(directory, wanted = languages, pluginDownloadURL) {
  for (const language of wanted)
    await fs.promises.rm(path.join(directory, language), { recursive: true, force: true });
  await fs.promises.mkdir(directory, { recursive: true });
  const schema = path.join(directory, "schema.json");
  const text = await fs.promises.readFile(schemaFile, "utf8");
  await fs.promises.writeFile(schema, JSON.stringify({ ...JSON.parse(text), pluginDownloadURL }));
  await generator(["package", schema, directory, ...wanted]);
  if (wanted.includes("python")) await describePython(path.join(directory, "python"));
  if (wanted.includes("go")) await declareModule(path.join(directory, "go"));
  if (wanted.includes("java")) await describeMaven(path.join(directory, "java"));
}

/** @param {string} directory */
async function describePython(directory) {
  const text = `# pulumi_recommender

The resources of [pulumi-recommender](https://www.npmjs.com/package/pulumi-recommender) for Pulumi programs in Python.
They need the plugin \`pulumi-resource-recommender\`, version ${version}.
`;
  await fs.promises.writeFile(path.join(directory, "README.md"), text);
}

/** Writes go.mod, with the version of the Pulumi SDK that belongs to the generator. @param {string} directory */
async function declareModule(directory) {
  const pins = await fs.promises.readFile(path.join(__dirname, "go.mod"), "utf8");
  const pin = (/** @type {string} */ name) =>
    pins
      .split("\n")
      .find((line) => line.trim().startsWith(`${name} `))
      ?.replace("// indirect", "")
      .trim();
  const { importBasePath } = JSON.parse(await fs.promises.readFile(schemaFile, "utf8")).language.go;
  const text = `module ${path.posix.dirname(importBasePath)}

go 1.25

require (
\t${pin("github.com/blang/semver")}
\t${pin("github.com/pulumi/pulumi/sdk/v3")}
)
`;
  await fs.promises.writeFile(path.join(directory, "go.mod"), text);
}

/** Writes a pom.xml for Maven. The generator only writes files for Gradle. @param {string} directory */
async function describeMaven(directory) {
  const { dependencies } = JSON.parse(await fs.promises.readFile(schemaFile, "utf8")).language.java;
  const blocks = Object.entries(dependencies).map(([name, number]) => {
    const [group, artifact] = name.split(":");
    return `    <dependency>
      <groupId>${group}</groupId>
      <artifactId>${artifact}</artifactId>
      <version>${number}</version>
    </dependency>`;
  });
  const text = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.pulumi</groupId>
  <artifactId>recommender</artifactId>
  <version>${version}</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source>
    <maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
${blocks.join("\n")}
  </dependencies>
</project>
`;
  await fs.promises.writeFile(path.join(directory, "pom.xml"), text);
}

/**
 * The function that builds each SDK, and the program that it needs.
 * @type {Record<string, { program: string, build: (directory: string) => Promise<void> }>}
 */
const builders = {
  python: {
    program: "python3",
    build: (directory) =>
      run("python3", ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "dist", "."], {
        cwd: directory,
      }),
  },
  go: {
    program: "go",
    build: async (directory) => {
      const options = { cwd: directory, env: goEnvironment() };
      await run("go", ["mod", "tidy"], options);
      // Without paths, Go can reuse what it compiled in another directory.
      await run("go", ["build", "-trimpath", "./..."], options);
    },
  },
  dotnet: {
    program: "dotnet",
    build: (directory) => run("dotnet", ["build", "--nologo", "--verbosity", "quiet"], { cwd: directory }),
  },
  java: {
    program: "mvn",
    build: (directory) => run("mvn", ["--quiet", "--batch-mode", "package"], { cwd: directory }),
  },
};

/** Returns whether this machine has a program. @param {string} program */
function isThere(program) {
  return spawnSync(program, [program === "go" ? "version" : "--version"], { stdio: "ignore" }).status === 0;
}

/**
 * Builds the SDK of a language if this machine has the program for it.
 * @param {string} directory
 * @param {string} language
 * @returns {Promise<string | undefined>} the reason if it was not built
 */
async function buildSdk(directory, language) {
  const builder = builders[language];
  if (!builder) throw new Error(`Unknown language: ${language}. Use one of: ${languages.join(", ")}.`);
  if (!isThere(builder.program)) return `there is no \`${builder.program}\` on PATH`;
  await builder.build(path.join(directory, language));
  return undefined;
}

module.exports = { languages, checkSchema, generateSdks, buildSdk, isThere };
