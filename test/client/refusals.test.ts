import { ApiError } from "../../client/client";
import { meansInUse, meansNotServing, undefinedIfMissing } from "../../client/refusals";

const refused = (status: number, message: string, code?: string, path: `/${string}` = "/delete-model") =>
  new ApiError({ method: "POST", path }, { status, message, ...(code && { code }) });

test.each([
  [404, "no model m1"],
  [410, "it was deleted"],
  [400, "no such model"],
  [400, "dataset does not exist"],
])("a refusal that says so is taken for absence: %i %s", async (status, message) => {
  expect(await undefinedIfMissing(Promise.reject(refused(status, message)))).toBeUndefined();
});

test.each([
  [409, "Only a model that is not deployed can be deleted"],
  [400, "unknown attribute age"],
  [404, 'an HTML page titled "Not Found" came instead of JSON'],
  [403, "not found for you"],
  [500, "not found"],
])("a refusal that says something else is not taken for absence: %i %s", async (status, message) => {
  await expect(undefinedIfMissing(Promise.reject(refused(status, message)))).rejects.toThrow(message);
});

test.each([
  [409, "", "No model is deployed in project p", true],
  [422, "", "no live model", true],
  [404, "", "no such user u1", false],
  [400, "", "limit must be at least 1", false],
  [404, "", "user u1 was not found in this deployment", false],
  [404, "", "no user u1 in the live index", false],
  [404, "USER_NOT_FOUND", "u1 is not in the deployment", false],
  [409, "NOT_DEPLOYED", "ask for user u1 later", true],
])("an answer tells whether a project serves: %i %s %s", (status, code, message, notServing) => {
  const answer = refused(status, message, code, "/recommend-items-to-user");
  expect(meansNotServing(answer)).toBe(notServing);
});

test.each([
  [409, "Only a model that is not deployed can be deleted", true],
  [400, "model is in use", true],
  [404, "no such model", false],
  [500, "the deployed model could not be deleted", false],
])("a refusal to delete a model tells whether it serves: %i %s", (status, message, inUse) => {
  expect(meansInUse(refused(status, message))).toBe(inUse);
});
