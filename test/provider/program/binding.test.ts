import * as pulumi from "@pulumi/pulumi";
import { currentBinding } from "../../../provider/program/binding";
import { configurationKeys, unknownKeyError } from "../../../provider/run/configuration";

const warn = jest.spyOn(pulumi.log, "warn").mockResolvedValue();

afterEach(() => {
  delete process.env.RECOMMENDER_BINDING;
  delete process.env.RECOMMENDER_CARRIER;
  pulumi.runtime.setAllConfig({});
  warn.mockClear();
});

test("resources are dynamic by default", () => {
  expect(currentBinding()).toBe("dynamic");
});

test("the environment variable takes precedence over the configuration", () => {
  pulumi.runtime.setAllConfig({ "recommender:binding": "dynamic" });
  process.env.RECOMMENDER_BINDING = "plugin";
  expect(currentBinding()).toBe("plugin");
  expect(warn).not.toHaveBeenCalled();
});

test("the error about an unknown binding names the setting and its value", () => {
  pulumi.runtime.setAllConfig({ "recommender:binding": "pigeon" });
  expect(currentBinding).toThrow('recommender:binding is "pigeon". Expected "dynamic" or "plugin".');
  process.env.RECOMMENDER_BINDING = "owl";
  expect(currentBinding).toThrow('RECOMMENDER_BINDING is "owl". Expected "dynamic" or "plugin".');
});

test("the configuration key carrier still works, with one warning that names the new key", () => {
  pulumi.runtime.setAllConfig({ "recommender:carrier": "plugin" });
  expect([currentBinding(), currentBinding()]).toEqual(["plugin", "plugin"]);
  const warning =
    'recommender:carrier is deprecated. Set recommender:binding to "plugin" and remove recommender:carrier.';
  expect(warn.mock.calls).toEqual([[warning]]);
});

test("the environment variable RECOMMENDER_CARRIER still works, with one warning that names the new variable", () => {
  process.env.RECOMMENDER_CARRIER = "plugin";
  expect([currentBinding(), currentBinding()]).toEqual(["plugin", "plugin"]);
  const warning =
    'RECOMMENDER_CARRIER is deprecated. Set RECOMMENDER_BINDING to "plugin" and remove RECOMMENDER_CARRIER.';
  expect(warn.mock.calls).toEqual([[warning]]);
});

test("the new names take precedence over the deprecated ones", () => {
  pulumi.runtime.setAllConfig({ "recommender:binding": "plugin", "recommender:carrier": "dynamic" });
  expect(currentBinding()).toBe("plugin");
  process.env.RECOMMENDER_BINDING = "dynamic";
  process.env.RECOMMENDER_CARRIER = "plugin";
  expect(currentBinding()).toBe("dynamic");
});

test("the deprecated key is accepted in a stack, but not as an input of a provider", () => {
  const place = { project: undefined, remedy: "Remove it." };
  expect(unknownKeyError("carrier", { known: configurationKeys, ...place })).toBeUndefined();
  expect(unknownKeyError("carrier", { known: ["baseUrl"], ...place })).toMatch("recommender:carrier");
});
