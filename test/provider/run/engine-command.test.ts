import { namesForReplacement } from "../../../provider/run/engine-command";

const urn = "urn:pulumi:dev::shop::recommender:index:EventDataset::clicks";

describe("a command names a resource for replacement", () => {
  test.each([
    [["pulumi", "up", "--replace", urn]],
    [["pulumi", "up", `--replace=${urn}`]],
    [["pulumi", "up", "--target-replace", urn, "--yes"]],
    [["pulumi", "up", "--replace", "**EventDataset::clicks"]],
    [["pulumi", "up", "--replace", "other", "--replace", "urn:pulumi:*::shop::**::clicks"]],
  ])("%j", (command) => {
    expect(namesForReplacement(command, urn)).toBe(true);
  });

  test.each([
    [["pulumi", "up"]],
    [["pulumi", "up", "--target", urn]],
    [["pulumi", "up", "--replace", "**::click"]],
    [["pulumi", "up", "--replace", "urn:pulumi:*::clicks"]],
    [["pulumi", "up", "--replace"]],
  ])("but not %j", (command) => {
    expect(namesForReplacement(command, urn)).toBe(false);
  });
});
