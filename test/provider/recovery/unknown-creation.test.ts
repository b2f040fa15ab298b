import { OutcomeUnknownError } from "../../../client/errors";
import { UnknownCreationError } from "../../../provider/recovery/unknown-creation";

const lost = new OutcomeUnknownError(
  { method: "POST", path: "/create-event-dataset" },
  "key",
  new Error("307: it redirects to /login. Check the address."),
);

function messageFor(candidates: readonly string[], name = "clicks"): string {
  const known = { name, candidates, at: 0, hasPlaceholder: true, hasExistingId: true };
  return new UnknownCreationError(lost, "identity", known).message;
}

test("a question about a lost create has one command to adopt each candidate", () => {
  expect(messageFor(["d1", "d2"])).toContain(
    "If the object exists, adopt it: `RECOMMENDER_ADOPT=clicks=d1 pulumi up` or `RECOMMENDER_ADOPT=clicks=d2 pulumi up`, " +
      "or with the argument existingId. If it does not exist, create it: `RECOMMENDER_CREATE_AGAIN=clicks pulumi up`.",
  );
  expect(messageFor(["it's"], "my clicks")).toContain("`RECOMMENDER_ADOPT='my clicks=it'\\''s' pulumi up`");
});

test("a question without candidates explains the id in its command", () => {
  expect(messageFor([])).toContain(
    "adopt it with its id in place of ID: `RECOMMENDER_ADOPT=clicks=ID pulumi up`",
  );
});

test("a question about a lost create ends each sentence with one full stop", () => {
  expect(messageFor([])).not.toContain("..");
});

test("a question about a lost create does not mention options that the resource may not have", () => {
  expect(messageFor(["d1"])).not.toContain("protect");
});
