import { type Declaration, declarations, invocation } from "../../console/parts/code";

const odd = `--it's "$(id)" \`x\` \${y} \\ \u202E<b>\u2028`;
const of = { projectId: "p", modelId: odd };
const conditions = [{ attribute: "fooBar", value: odd, lowerBound: 0.2 }];
/** Resources that the console shows as code. */
export const resources: Declaration[] = [
  { type: "EventDataset", name: odd, fields: { existingId: odd, numShards: 3 } },
  {
    type: "UserDataset",
    name: odd,
    fields: { numShards: 1, attributeSchema: { [odd]: "NUMERICAL", fooBar: "CATEGORICAL" } },
  },
  {
    type: "Project",
    name: "class",
    fields: { userDatasetId: "u", itemDatasetId: "i", eventDatasetId: "e", targetEventType: odd },
  },
  {
    type: "Algorithm",
    name: "g1",
    fields: { existingId: "a", projectId: "p", algorithmParameters: { fooBar: 1, x_y: true } },
  },
  { type: "Algorithm", name: "g1", fields: { projectId: "p", algorithmType: "G1" } },
  { type: "Model", name: "import", fields: { existingId: odd, projectId: "p" } },
  {
    type: "Deployment",
    name: "live",
    fields: { existingId: "p", projectId: "p", generatorModelId: "m", qps: 3 },
  },
  {
    type: "UserQuery",
    component: "UserQueryResult",
    name: "who",
    fields: { ...of, queryType: "user_list", queries: [{ conditions }] },
  },
  {
    type: "UserClustering",
    component: "UserClusteringResult",
    name: "groups",
    fields: { ...of, parameters: { minUserNum: 2 } },
  },
];
/** The arguments of a recommendation call. */
export const asked = { userId: odd, limit: 10, servingUri: "http://127.0.0.1" };
/** All samples in Python, as the console writes them. */
export const consoleText = [
  declarations(resources).Python,
  invocation("forUser", "recommend", asked).Python,
  invocation("datasets", "listEventDatasets", {}).Python,
].join("\n");

/** A Python script that runs console.py and prints the requests that its SDK sends to the engine. */
export const spokenTo = `
import json
import pulumi

said = []

class Said(pulumi.runtime.Mocks):
    def new_resource(self, args):
        said.append({"type": args.typ, "name": args.name, "inputs": args.inputs})
        return [args.name + "-id", args.inputs]

    def call(self, args):
        said.append({"token": args.token, "args": args.args})
        return {}

pulumi.runtime.set_mocks(Said())
import pulumi_recommender as recommender

@pulumi.runtime.test
def run():
    exec(compile(open("console.py", encoding="utf-8").read(), "console.py", "exec"), {"recommender": recommender})

run()
print(json.dumps(said))
`;
