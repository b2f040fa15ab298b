/** Formats example calls for the end of a command's help. */
export function examples(...calls: readonly string[]): string {
  return `\nExamples:\n${calls.map((call) => `  recommender ${call}`).join("\n")}`;
}
