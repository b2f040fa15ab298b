import * as pulumi from "@pulumi/pulumi";

// Parts of the Pulumi SDK that its public types lack. test/provider/program/sdk-internals.test.ts fails if one changes.

/** Whether the stack stores the value of a configuration key as a secret. The key includes its namespace. */
export const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };

/** Whether the value of an output is known. */
export function isKnown(output: unknown): Promise<boolean> {
  return (output as { readonly isKnown: Promise<boolean> }).isKnown;
}

/**
 * Number of frames that the SDK removes from the stack trace of a resource: four of its own and one of the class that
 * extends it.
 */
export const droppedFrames = 5;
