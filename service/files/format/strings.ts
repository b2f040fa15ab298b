import { isAscii, isUtf8 } from "node:buffer";
import { FormatError, type OpenSections, type Section } from "./sections";

/** Returns the sections of a list of texts: their lengths in bytes, and their concatenation in UTF-8. */
export function stringSections(name: string, texts: readonly string[]): Record<string, Section> {
  const lengths = new Uint32Array(texts.length);
  let total = 0;
  texts.forEach((text, at) => {
    total += lengths[at] = Buffer.byteLength(text);
  });
  const bytes = Buffer.from(new ArrayBuffer(total));
  let at = 0;
  for (const text of texts) at += bytes.write(text, at);
  return {
    [`${name}_lengths`]: { values: lengths, shape: [lengths.length] },
    [`${name}_bytes`]: { values: bytes, shape: [total] },
  };
}

/** Reads a list of texts. */
export async function readStrings(file: OpenSections, name: string, count: number): Promise<string[]> {
  const lengths = await file.read(`${name}_lengths`, "uint32", [count]);
  const bytes = Buffer.from((await file.read(`${name}_bytes`, "uint8", [undefined])).buffer);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total !== bytes.length)
    throw new FormatError(`has ${bytes.length} bytes in ${name}_bytes, but the lengths sum to ${total}`);
  if (!isUtf8(bytes)) throw new FormatError(`has a section ${name}_bytes that is not UTF-8`);
  // Most ids are ASCII. As Latin-1, they decode in a third of the time.
  const encoding = isAscii(bytes) ? "latin1" : "utf8";
  const texts = new Array<string>(count);
  let at = 0;
  for (let text = 0; text < count; text++) {
    const end = at + (lengths[text] as number);
    texts[text] = bytes.toString(encoding, at, end);
    at = end;
  }
  return texts;
}
