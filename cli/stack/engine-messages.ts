import { partsOf, titleOf } from "../../provider/run/urn";

/** Prefixes an engine message with its resource, unless it has the prefix or is about the whole stack. */
export function withTitle(urn: string | undefined, message: string): string {
  const parts = partsOf(urn);
  const title = `${titleOf(parts)}: `;
  const isTitled = parts.name === "" || parts.type === "pulumi:pulumi:Stack" || message.startsWith(title);
  return isTitled ? message : title + message;
}

/** Extracts the errors from the engine's output. Returns the whole message if there are none. */
export function engineErrors({ message }: Error): string[] {
  // The Automation API quotes the output twice, so each error is listed once.
  const errors = [...new Set(message.split("\n").filter((line) => line.startsWith("error: ")))];
  return errors.length > 0 ? errors.map((line) => line.slice("error: ".length)) : [message];
}
