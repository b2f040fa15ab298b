import { languageOf } from "../../cli/drift/language";

/** Declarations as `recommender drift` suggests them, with every type that an argument can have. */
const declarations: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  [
    "EventDataset",
    { existingId: "d", numShards: 3, attributeSchema: { age: "NUMERICAL", "a b": "CATEGORICAL" } },
  ],
  [
    "Algorithm",
    { projectId: "p", algorithmType: "G1", algorithmParameters: { dimensions: 8, on: true, list: [1, "a"] } },
  ],
  [
    "Deployment",
    {
      projectId: "p",
      generatorModelId: "m",
      qps: 5,
      rollback: true,
      existingId: "p",
      check: { userIds: ["u1", "u2"], minResults: 3, maxLatencyMs: 5000 },
      rules: {
        filter: 'item.in_stock == "yes"',
        boost: [{ when: "item.margin > 0.4", factor: 2 }],
        bury: [{ when: "item.old", factor: 0.5 }],
        pin: [{ itemId: "i1", position: 1, when: "user.vip" }],
        limitPer: [{ attribute: "brand", max: 2 }],
      },
    },
  ],
  [
    "UserQuery",
    {
      projectId: "p",
      modelId: "m",
      queryType: "user_list",
      existingId: "j",
      queries: [{ conditions: [{ attribute: "genre", value: "jazz", lowerBound: 0.5 }] }],
    },
  ],
  ["UserClustering", { projectId: "p", modelId: "m", existingId: "j", parameters: { minUserNum: 2 } }],
  [
    "UserRecords",
    {
      userDatasetId: "d",
      source: "users.csv",
      format: "csv",
      mapping: { userId: { value: "u" }, attributes: ["a"] },
    },
  ],
];

/** Returns the suggestions in a language, one for each declaration. */
export function suggestions(runtime: string): string[] {
  return declarations.map(([type, args]) =>
    languageOf(runtime).formatDeclaration(type, type.toLowerCase(), args),
  );
}

/** Returns a Go program with the suggestions. It compiles only if they are correct. */
export function goProgram(): string {
  const lines = suggestions("go").map(
    (one) => `\t\tif _, err := ${one}; err != nil {\n\t\t\treturn err\n\t\t}`,
  );
  return `package main

import (
	"pulumi-recommender/sdk/go/recommender"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
${lines.join("\n")}
		return nil
	})
}
`;
}

/** Returns a Java program with the suggestions. It compiles only if they are correct. */
export function javaProgram(): string {
  return `package recordshop;

import com.pulumi.recommender.*;
import com.pulumi.recommender.enums.*;
import com.pulumi.recommender.inputs.*;
import java.util.List;
import java.util.Map;

class Suggestions {
    static void declare() {
${suggestions("java")
  .map((one) => `        ${one};`)
  .join("\n")}
    }
}
`;
}

/** Returns a Python program that declares the suggestions without an engine and prints their arguments. */
export function pythonProgram(): string {
  return `
import json, pulumi, pulumi_recommender as recommender
seen = {}
class Engine(pulumi.runtime.Mocks):
    def new_resource(self, args):
        seen[args.name] = args.inputs
        return args.name, args.inputs
    def call(self, args):
        return {}
pulumi.runtime.set_mocks(Engine())
@pulumi.runtime.test
def declare():
    declared = [${suggestions("python").join(", ")}]
    return pulumi.Output.all(*[one.urn for one in declared])
declare()
print(json.dumps(seen))
`;
}

/** The arguments that the engine must receive for the declarations. */
export function suggestedArgs(): Record<string, unknown> {
  return Object.fromEntries(declarations.map(([type, args]) => [type.toLowerCase(), args]));
}
