import * as pulumi from "@pulumi/pulumi";

// Parts of the Pulumi SDK that its public types lack. test/provider/program/sdk-internals.test.ts fails if one changes.

/** Whether the stack stores a configuration key, with its namespace, as a secret. */
export const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };

/** Whether the value of an output is known. */
export function isKnown(output: unknown): Promise<boolean> {
  return (output as { readonly isKnown: Promise<boolean> }).isKnown;
}

/** Frames that the SDK removes from the stack trace of a resource: four of its own and the class that extends it. */
export const droppedFrames = 5;
