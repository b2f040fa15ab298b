import { adoptionFault, idNamedByUser, rejectHeld } from "../../../provider/recovery/adoption";
import type { Context } from "../../../provider/run/context";

const urnOf = (type: string, name: string) =>
  `urn:pulumi:dev::shop::pulumi-nodejs:dynamic/recommender:${type}::${name}`;
afterEach(() => {
  delete process.env.RECOMMENDER_ADOPT;
  delete process.env.RECOMMENDER_CREATE_AGAIN;
});

test("spaces around names and ids in RECOMMENDER_ADOPT are ignored", () => {
  process.env.RECOMMENDER_ADOPT = " clicks = event-dataset-1 , users= user-dataset-1";
  expect(idNamedByUser(urnOf("EventDataset", "clicks"))).toBe("event-dataset-1");
  expect(idNamedByUser(urnOf("UserDataset", "users"))).toBe("user-dataset-1");
});

test("RECOMMENDER_ADOPT and RECOMMENDER_CREATE_AGAIN cannot name the same resource", () => {
  process.env.RECOMMENDER_ADOPT = "clicks=event-dataset-1";
  process.env.RECOMMENDER_CREATE_AGAIN = "users, clicks";
  expect(adoptionFault()).toMatch(/both name clicks, .* Remove it from one of the variables/);
  for (const others of ["users", "1", ""]) {
    process.env.RECOMMENDER_CREATE_AGAIN = others;
    expect(adoptionFault()).toBeUndefined();
  }
});

describe("an id in RECOMMENDER_ADOPT", () => {
  const stackState = { allStacks: async () => ({ entries: [], lineages: new Map(), unread: [] }) };
  const held = (type: string, id: string) => {
    const context = { urn: urnOf(type, "it"), run: { stackState }, settings: { baseUrl: "http://a" } };
    return rejectHeld(id, context as unknown as Context);
  };

  test.each([
    ["UserDataset", "event-dataset-1"],
    ["Project", "user-dataset-1"],
    ["Algorithm", "project-1"],
    ["DeploymentJob", "project-1"],
  ])("is rejected for a %s if it is of a different kind: %s", async (type, id) => {
    await expect(held(type, id)).rejects.toThrow(/it is the id of a different kind of object/);
  });

  test.each([
    ["UserDataset", "user-dataset-1"],
    ["UserDataset", "4711"],
    ["TrainingJob", "model-1"],
    ["Model", "job-1"],
  ])("is accepted for a %s: %s", async (type, id) => {
    await expect(held(type, id)).resolves.toBeUndefined();
  });
});
