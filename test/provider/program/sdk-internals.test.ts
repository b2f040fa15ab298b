import { once } from "node:events";
import { createServer } from "node:http2";
import * as pulumi from "@pulumi/pulumi";
import { droppedFrames, isConfigSecret, isKnown } from "../../../provider/program/sdk-internals";

afterEach(() => pulumi.runtime.setAllConfig({}));

test("the Pulumi SDK reports which configuration keys are secret", () => {
  pulumi.runtime.setAllConfig({ "recommender:apiKey": "k", "recommender:baseUrl": "u" }, [
    "recommender:apiKey",
  ]);
  expect(isConfigSecret("recommender:apiKey")).toBe(true);
  expect(isConfigSecret("recommender:baseUrl")).toBe(false);
});

test("an output of the Pulumi SDK reports whether it is known", async () => {
  expect(await isKnown(pulumi.output(1))).toBe(true);
  expect(await isKnown(pulumi.output({ inner: pulumi.unknown }))).toBe(false);
});

test("the Pulumi SDK removes a fixed number of frames from the stack trace of a resource", async () => {
  await pulumi.runtime.setMocks({
    newResource: ({ name, inputs }) => ({ id: name, state: inputs }),
    call: ({ inputs }) => inputs,
  });
  const skipped: number[] = [];
  const stackTrace = jest.fn((skip: number) => {
    skipped.push(skip);
    return [];
  });
  Object.assign(pulumi.Resource, { stackTrace });
  class Thing extends pulumi.CustomResource {}
  new Thing("test:index:Thing", "thing");
  // The SDK adds the frame of stackTrace itself.
  expect(skipped).toEqual([droppedFrames - 1]);
});

test("Node lists the HTTP/2 server of a dynamic provider among its active handles", async () => {
  const server = createServer().listen(0);
  await once(server, "listening");
  const handles = (process as unknown as { _getActiveHandles(): object[] })._getActiveHandles();
  expect(handles.map((handle) => handle.constructor.name)).toContain("Http2Server");
  await new Promise((resolve) => server.close(resolve));
});
