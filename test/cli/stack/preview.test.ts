import type { EngineEvent } from "@pulumi/pulumi/automation";
import type { OpenStack } from "../../../cli/stack/open";
import { previewUpdate } from "../../../cli/stack/preview";

const config = { "recommender:apiKey": { value: "the-secret-of-the-stack", secret: true } };

/** Returns a stack whose preview sends some events and then fails. */
const failing = (...events: unknown[]) => {
  const preview = async ({ onEvent }: { onEvent: (event: EngineEvent) => void }) => {
    for (const event of events) onEvent(event as EngineEvent);
    throw new Error("the engine failed");
  };
  const open = { name: "dev", location: {}, stack: { preview }, allConfig: async () => config };
  return open as unknown as OpenStack;
};

test.each([
  ["before the engine has reported the configuration", []],
  [
    "after the engine has reported it without its secrets",
    [{ preludeEvent: { config: { "recommender:apiKey": "[secret]" } } }],
  ],
])(
  "the configuration of a preview that fails %s includes secrets, so errors can mask them",
  async (_, events) => {
    const run = previewUpdate(failing(...events));
    await expect(run.preview).rejects.toThrow(/the engine failed/);
    expect(await run.config).toEqual(config);
  },
);
