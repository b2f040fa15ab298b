import type { Format } from "../formats/format";
import { SourceError } from "../formats/row";
import type { RemoteSource } from "./remote-source";

/** Returns the source that standard input contains. It can be read only once. */
export function standardInput(
  format: Format | undefined,
  input: NodeJS.ReadStream = process.stdin,
): RemoteSource {
  const displayName = "standard input";
  if (!format) throw new SourceError(displayName, "has no file extension; set --format");
  if (input.isTTY) throw new SourceError(displayName, "is a terminal; pipe the records into the command");
  return {
    displayName,
    fileName: "",
    version: async () => undefined,
    async copyTo(copy) {
      for await (const chunk of input) await copy.append(chunk as Buffer);
      return undefined;
    },
  };
}
