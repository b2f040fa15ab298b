/** Property that marks special values, such as secrets, in Pulumi's protocol. */
const signatureKey = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** Secret value in the form of Pulumi's protocol. */
export interface Sealed {
  readonly value: unknown;
}

/** Wraps a value as a secret. The engine encrypts it in the state. */
export function seal(value: unknown): unknown {
  return isSealed(value) ? value : { [signatureKey]: secretSignature, value };
}

/** Whether a value is wrapped as a secret. */
export function isSealed(value: unknown): value is Sealed {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as Record<string, unknown>)[signatureKey] === secretSignature
  );
}
