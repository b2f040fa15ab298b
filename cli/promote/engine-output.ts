import type { EngineEvent } from "@pulumi/pulumi/automation";
import { engineErrors, withTitle } from "../stack/engine-messages";

/** Prints the engine's output as it arrives, and collects its errors for the history. */
export class EngineOutput {
  readonly #errors = new Set<string>();

  /** Options for Automation API commands. */
  readonly options = {
    color: "never" as const,
    onOutput: (text: string) => process.stderr.write(text),
    onEvent: ({ diagnosticEvent }: EngineEvent) => {
      if (diagnosticEvent?.severity !== "error") return;
      const { urn, message } = diagnosticEvent;
      const text = withTitle(urn, oneLine(message));
      // If a resource fails, the engine reports its error, and this error for the whole stack.
      if (text !== "update failed") this.#errors.add(text);
    },
  };

  /** Returns the reasons why the engine failed, separated by semicolons. */
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
