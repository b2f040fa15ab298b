import type { EngineEvent } from "@pulumi/pulumi/automation";
import { engineErrors, withTitle } from "../stack/engine-messages";

/** What the engine says while it works: its lines as they come, and its errors to be repeated at the end. */
export class EngineOutput {
  readonly #errors = new Set<string>();

  /** Given to the engine's commands. */
  readonly options = {
    color: "never" as const,
    onOutput: (text: string) => process.stderr.write(text),
    onEvent: ({ diagnosticEvent }: EngineEvent) => {
      if (diagnosticEvent?.severity !== "error") return;
      const { urn, message } = diagnosticEvent;
      const words = withTitle(urn, oneLine(message));
      // The stack fails because a resource did, which is reported by itself.
      if (words !== "update failed") this.#errors.add(words);
    },
  };

  /** Why the engine failed. */
  reason(error: Error): string {
    if (this.#errors.size > 0) return [...this.#errors].join("; ");
    return engineErrors(error).join("; ");
  }
}

function oneLine(message: string): string {
  return message
    .replace(/^error: /, "")
    .replace(/^\d+ errors? occurred:\s*/, "")
    .replace(/\s*\n\s*/g, " ")
    .replace(/^\* /, "")
    .trim();
}
