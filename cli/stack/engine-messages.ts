import { partsOf, titleOf } from "../../provider/run/urn";

/** Prefixes an engine message with its resource, unless it already has that prefix or concerns the whole stack. */
export function withTitle(urn: string | undefined, message: string): string {
  const parts = partsOf(urn);
  const title = `${titleOf(parts)}: `;
  const isTitled = parts.name === "" || parts.type === "pulumi:pulumi:Stack" || message.startsWith(title);
  return isTitled ? message : title + message;
}

/** Extracts the errors from the message of a failed engine run. Returns the whole message if it contains no errors. */
export function engineErrors({ message }: Error): string[] {
  // The Automation API quotes the output twice. The set keeps each error once.
  const errors = [...new Set(message.split("\n").filter((line) => line.startsWith("error: ")))];
  return errors.length > 0 ? errors.map((line) => line.slice("error: ".length)) : [message];
}
