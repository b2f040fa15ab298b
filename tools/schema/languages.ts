/** Options of the SDK generator for each language. */
export const languages = {
  // The name of our package, which is written by hand. A generated package would have the same name and conflict.
  nodejs: { packageName: "pulumi-recommender", respectSchemaVersion: true },
  python: {
    packageName: "pulumi_recommender",
    respectSchemaVersion: true,
    pyproject: { enabled: true },
    requires: { pulumi: ">=3.150.0,<4.0.0" },
  },
  // Without a host name, programs need a `replace` in go.mod. Change the path if you publish the module.
  go: {
    importBasePath: "pulumi-recommender/sdk/go/recommender",
    respectSchemaVersion: true,
    generateResourceContainerTypes: true,
  },
  csharp: { respectSchemaVersion: true, packageReferences: { Pulumi: "3.*" } },
  java: {
    buildFiles: "gradle",
    dependencies: {
      "com.pulumi:pulumi": "1.20.0",
      "com.google.code.findbugs:jsr305": "3.0.2",
      "com.google.code.gson:gson": "2.8.9",
    },
  },
};
