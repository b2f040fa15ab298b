import { partsOf, titleOf } from "../../provider/run/urn";

/** A message of the engine under the title of its resource, unless it has it or is of the whole stack. */
export function withTitle(urn: string | undefined, message: string): string {
  const parts = partsOf(urn);
  const title = `${titleOf(parts)}: `;
  const isTitled = parts.name === "" || parts.type === "pulumi:pulumi:Stack" || message.startsWith(title);
  return isTitled ? message : title + message;
}

/** What the engine wrote as its errors, each once, without the rest of its output; all of it where there are none. */
export function engineErrors({ message }: Error): string[] {
  // The Automation API quotes the whole output twice.
  const errors = [...new Set(message.split("\n").filter((line) => line.startsWith("error: ")))];
  return errors.length > 0 ? errors.map((line) => line.slice("error: ".length)) : [message];
}
