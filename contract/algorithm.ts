import { z } from "zod";
import { id, jsonMap, label, maybe } from "./field";
import { route } from "./route";

/** The kinds of algorithm that the specification names. */
export const algorithmType = z.enum(["G1"], { error: "expected G1" });

/** What an algorithm is created with. */
export const algorithmFields = z.strictObject({
  projectId: id.describe("The project that owns it."),
  name: label.describe("Name of the algorithm."),
  algorithmType: algorithmType.default("G1").describe("Kind of algorithm."),
  algorithmParameters: jsonMap
    .default({})
    .describe("Parameters; the empty object lets the service choose all of them."),
});

export const createAlgorithm = route({
  method: "POST",
  path: "/create-algorithm",
  summary: "Creates an algorithm configuration inside a project.",
  request: algorithmFields,
  reply: z.object({
    projectId: maybe(z.string()),
    algorithmId: id,
    name: maybe(z.string()),
    algorithmType: maybe(z.string()),
    algorithmParameters: maybe(jsonMap),
  }),
});
