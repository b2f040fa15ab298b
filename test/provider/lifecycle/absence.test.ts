import { ApiError } from "../../../client/client";
import { explainingAbsence } from "../../../provider/lifecycle/observation";

const hint =
  "If it no longer exists, remove it from the state: `pulumi state delete urn:pulumi:dev::shop::t::m`.";

/** Message of a step that fails with a gateway's 404, which names an object or not. */
function messageAfter(path: `/${string}`, named: string): Promise<string> {
  const reply = { status: 404, message: "Not Found", isRecognised: false };
  const error = new ApiError(
    { method: "GET", path },
    reply,
    named && `; it is unknown whether ${named} exists`,
  );
  const step = explainingAbsence("m1", "urn:pulumi:dev::shop::t::m", () => Promise.reject(error));
  return step.catch(({ message }: Error) => message);
}

test("an error that leaves open whether the object exists shows how to remove it from the state", async () => {
  expect(await messageAfter("/get-model", "model_id m1")).toContain(hint);
});

test.each<[`/${string}`, string]>([
  ["/healthz", ""],
  ["/list-models", "project_id p1"],
  ["/get-job", "job_id j1"],
])("an error of %s says nothing about the object, so it does not", async (path, named) => {
  expect(await messageAfter(path, named)).not.toContain("pulumi state delete");
});
