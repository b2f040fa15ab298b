/** Marks an object of Pulumi's protocol that stands for something else. */
const signatureKey = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** A value as a secret of the state; Pulumi's protocol fixes its form. */
export interface Sealed {
  readonly value: unknown;
}

/** Seals a value. */
export function seal(value: unknown): unknown {
  return isSealed(value) ? value : { [signatureKey]: secretSignature, value };
}

/** Whether a value is sealed. */
export function isSealed(value: unknown): value is Sealed {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as Record<string, unknown>)[signatureKey] === secretSignature
  );
}
