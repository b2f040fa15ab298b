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
 * Writes the SDK of each language to `folder/LANGUAGE`. With `pluginDownloadURL`, programs that use the SDKs install the
 * plugin automatically.
 * @param {string} folder
 * @param {string[]} wanted
 * @param {string} [pluginDownloadURL]
 */
async function generateSdks(folder, wanted = languages, pluginDownloadURL) {
  for (const language of wanted)
    await fs.promises.rm(path.join(folder, language), { recursive: true, force: true });
  await fs.promises.mkdir(folder, { recursive: true });
  const schema = path.join(folder, "schema.json");
  const text = await fs.promises.readFile(schemaFile, "utf8");
  await fs.promises.writeFile(schema, JSON.stringify({ ...JSON.parse(text), pluginDownloadURL }));
  await generator(["package", schema, folder, ...wanted]);
  if (wanted.includes("python")) await describePython(path.join(folder, "python"));
  if (wanted.includes("go")) await declareModule(path.join(folder, "go"));
  if (wanted.includes("java")) await describeMaven(path.join(folder, "java"));
}

/** @param {string} folder */
async function describePython(folder) {
  const text = `# pulumi_recommender

The resources of [pulumi-recommender](https://www.npmjs.com/package/pulumi-recommender) for Pulumi programs in Python.
They need the plugin \`pulumi-resource-recommender\`, version ${version}.
`;
  await fs.promises.writeFile(path.join(folder, "README.md"), text);
}

/** Writes go.mod, with the version of the Pulumi SDK that belongs to the generator. @param {string} folder */
async function declareModule(folder) {
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
  await fs.promises.writeFile(path.join(folder, "go.mod"), text);
}

/** Writes a pom.xml for Maven. The generator only writes files for Gradle. @param {string} folder */
async function describeMaven(folder) {
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
  await fs.promises.writeFile(path.join(folder, "pom.xml"), text);
}

/**
 * The function that builds each SDK, and the program that it needs.
 * @type {Record<string, { program: string, build: (folder: string) => Promise<void> }>}
 */
const builders = {
  python: {
    program: "python3",
    build: (folder) =>
      run("python3", ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "dist", "."], {
        cwd: folder,
      }),
  },
  go: {
    program: "go",
    build: async (folder) => {
      const options = { cwd: folder, env: goEnvironment() };
      await run("go", ["mod", "tidy"], options);
      // Without paths, Go can reuse what it compiled in another directory.
      await run("go", ["build", "-trimpath", "./..."], options);
    },
  },
  dotnet: {
    program: "dotnet",
    build: (folder) => run("dotnet", ["build", "--nologo", "--verbosity", "quiet"], { cwd: folder }),
  },
  java: {
    program: "mvn",
    build: (folder) => run("mvn", ["--quiet", "--batch-mode", "package"], { cwd: folder }),
  },
};

/** Returns whether this machine has a program. @param {string} program */
function isThere(program) {
  return spawnSync(program, [program === "go" ? "version" : "--version"], { stdio: "ignore" }).status === 0;
}

/**
 * Builds the SDK of a language if this machine has the program for it.
 * @param {string} folder
 * @param {string} language
 * @returns {Promise<string | undefined>} the reason if it was not built
 */
async function buildSdk(folder, language) {
  const builder = builders[language];
  if (!builder) throw new Error(`Unknown language: ${language}. Use one of: ${languages.join(", ")}.`);
  if (!isThere(builder.program)) return `there is no \`${builder.program}\` on PATH`;
  await builder.build(path.join(folder, language));
  return undefined;
}

module.exports = { languages, checkSchema, generateSdks, buildSdk, isThere };
