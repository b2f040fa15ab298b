/** What the generators of each language need beside the schema itself. */
export const languages = {
  // Written by hand; who generates a package all the same finds the name taken.
  nodejs: { packageName: "pulumi-recommender", respectSchemaVersion: true },
  python: {
    packageName: "pulumi_recommender",
    respectSchemaVersion: true,
    pyproject: { enabled: true },
    requires: { pulumi: ">=3.150.0,<4.0.0" },
  },
  // A path without a host is found by a `replace` in go.mod; whoever publishes the module writes its own.
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
