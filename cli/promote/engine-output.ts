import type { EngineEvent } from "@pulumi/pulumi/automation";

/** What the engine says while it works: its lines as they come, and its errors to be repeated at the end. */
export class Progress {
  readonly #errors = new Set<string>();

  /** Given to the engine's commands. */
  readonly options = {
    color: "never" as const,
    onOutput: (text: string) => process.stderr.write(text),
    onEvent: ({ diagnosticEvent }: EngineEvent) => {
      if (diagnosticEvent?.severity !== "error") return;
      const { urn, message } = diagnosticEvent;
      const words = titled(urn, message);
      // The stack fails because a resource did, which is reported by itself.
      if (!/^(Stack \S+: )?update failed$/.test(words)) this.#errors.add(words);
    },
  };

  /** Why the engine failed. */
  reason(error: Error): string {
    if (this.#errors.size > 0) return [...this.#errors].join("; ");
    const lines = error.message.split("\n").filter((line) => line.startsWith("error: "));
    return lines.map((line) => line.slice("error: ".length)).join("; ") || error.message;
  }
}

function titled(urn: string | undefined, message: string): string {
  const text = message
    .replace(/^error: /, "")
    .replace(/^\d+ errors? occurred:\s*/, "")
    .replace(/\s*\n\s*/g, " ")
    .replace(/^\* /, "")
    .trim();
  const [type, name] = urn?.split("::").slice(2) ?? [];
  const title = name ? `${type?.split(":").at(-1)} ${name}: ` : "";
  return text.startsWith(title) ? text : title + text;
}
