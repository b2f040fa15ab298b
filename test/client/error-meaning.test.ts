import { ApiError } from "../../client/client";
import { isMissingNextTo, meansInUse, meansNotServing, undefinedIfMissing } from "../../client/error-meaning";

const rejection = (status: number, message: string, code?: string, path: `/${string}` = "/delete-model") =>
  new ApiError({ method: "POST", path }, { status, message, ...(code && { code }) });
const foreign = (status: number, message = "no Route matched") =>
  new ApiError({ method: "DELETE", path: "/delete-model" }, { status, message, isRecognised: false });

test.each([
  [404, "no model m1"],
  [410, "it was deleted"],
  [400, "no such model"],
  [400, "dataset does not exist"],
])("an error that an object does not exist means that it is missing: %i %s", async (status, message) => {
  expect(await undefinedIfMissing(Promise.reject(rejection(status, message)))).toBeUndefined();
});

test.each([
  [409, "Only a model that is not deployed can be deleted"],
  [400, "unknown attribute age"],
  [403, "not found for you"],
  [500, "not found"],
])("another error does not mean that an object is missing: %i %s", async (status, message) => {
  await expect(undefinedIfMissing(Promise.reject(rejection(status, message)))).rejects.toThrow(message);
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
  [503, "", "no live deployment", false],
  [503, "NOT_DEPLOYED", "No model is deployed in project p", false],
])(
  "an error shows whether a project has a live deployment: %i %s %s",
  (status, code, message, notServing) => {
    const error = rejection(status, message, code, "/recommend-items-to-user");
    expect(meansNotServing(error)).toBe(notServing);
  },
);

test.each([
  [409, "Only a model that is not deployed can be deleted", true],
  [400, "model is in use", true],
  [404, "no such model", false],
  [500, "the deployed model could not be deleted", false],
])("a failed deletion shows whether the model is deployed: %i %s", (status, message, inUse) => {
  expect(meansInUse(rejection(status, message))).toBe(inUse);
});

describe("a 404 that may come from a gateway", () => {
  test("is an error and does not mean that the object is missing", async () => {
    await expect(undefinedIfMissing(Promise.reject(foreign(404)))).rejects.toThrow("no Route matched");
  });

  test("means that the object is missing only if another check confirms it", async () => {
    const call = () => Promise.reject(foreign(404));
    expect(await undefinedIfMissing(call(), async () => true)).toBeUndefined();
    await expect(undefinedIfMissing(call(), async () => false)).rejects.toThrow("404");
    await expect(undefinedIfMissing(call(), () => Promise.reject(new Error("down")))).rejects.toThrow("404");
  });

  test("is checked like a 410, and no other status is", async () => {
    const outcome = (status: number) =>
      undefinedIfMissing(Promise.reject(foreign(status)), async () => true).catch(() => "an error");
    expect(await Promise.all([404, 410, 302, 400, 409].map(outcome))).toEqual([
      ...[undefined, undefined],
      ...["an error", "an error", "an error"],
    ]);
  });

  /** Reads that return the given results in turn. */
  const reads = (...results: (Error | object)[]) => {
    const read = jest.fn(async (_id: string): Promise<unknown> => {
      const result = results.shift();
      if (result instanceof Error) throw result;
      return result;
    });
    return read;
  };

  test("is not confirmed by an empty list, or by a list with no other object", async () => {
    const read = reads();
    expect(await isMissingNextTo(new Map(), "gone", read)).toBe(false);
    expect(await isMissingNextTo(new Map([["gone", {}]]), "gone", read)).toBe(false);
    expect(read).not.toHaveBeenCalled();
  });

  test("is confirmed if another object is found and this one is still missing", async () => {
    const list = new Map([["other", {}]]);
    const read = reads({}, foreign(404));
    expect(await isMissingNextTo(list, "gone", read)).toBe(true);
    expect(read.mock.calls).toEqual([["other"], ["gone"]]);
    // The gateway has recovered between the two reads.
    expect(await isMissingNextTo(list, "gone", reads({}, {}))).toBe(false);
    expect(await isMissingNextTo(list, "gone", reads({}, foreign(302)))).toBe(false);
    await expect(isMissingNextTo(list, "gone", reads(foreign(404)))).rejects.toThrow("404");
  });
});

test("an error that names no object of the request does not mean that the object is missing", async () => {
  const error = (status: number) =>
    new ApiError({ method: "GET", path: "/get-model" }, { status, message: "not found", namesObject: false });
  for (const status of [400, 409])
    await expect(undefinedIfMissing(Promise.reject(error(status)))).rejects.toThrow("not found");
});
