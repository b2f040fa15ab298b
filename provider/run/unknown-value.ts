/** Placeholder in a preview for a value that is not known yet, as defined by Pulumi's protocol. */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
