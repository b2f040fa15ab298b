import type { Format } from "../formats/format";
import type { SourceCopy } from "./source-copy";

/** A source that is not a file of this machine. It is copied to a file, which is then read like any other source. */
export interface RemoteSource {
  /** Address for messages. It contains no credentials and no query. */
  readonly displayName: string;
  /** Name whose extension determines the format. */
  readonly fileName: string;
  /** Format, if all sources of this kind have the same one. */
  readonly format?: Format;
  /**
   * Returns a text that differs after each change of the content, without reading the content. Returns undefined if
   * nothing proves that the content is unchanged, such as a server without ETags.
   */
  version(): Promise<string | undefined>;
  /**
   * Writes the content to an empty copy.
   * @returns the version of exactly this content, or undefined if it is unknown
   */
  copyTo(copy: SourceCopy): Promise<string | undefined>;
}
