/** Text that replaces a secret. */
export const mask = "[secret]";

/**
 * Masks secrets that a text contains verbatim. It must ignore secrets of one to three letters, because any word may
 * decode to a text with these letters.
 */
type Masking = (text: string) => string;

/** Maximum number of times that a text is decoded. A gateway may escape the HTML of a service once more. */
const maxDecodings = 3;

/** Masks secrets in a message, even if they are escaped as HTML or part of a base64 text. */
export function maskEncoded(message: string, maskPlain: Masking): string {
  const maskAll = (text: string) => maskBase64(maskPlain(text), maskPlain);
  let shown = maskAll(message);
  let text = shown;
  for (let count = 0; count < maxDecodings; count++) {
    const decoded = decodeHtml(text);
    if (decoded === text) break;
    text = maskAll(decoded);
    // Only a message with a secret is shown decoded.
    if (text !== decoded) shown = text;
  }
  return shown;
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const maxCodePoint = 0x10ffff;

function decodeHtml(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi,
    (whole, name?: string, decimal?: string, hex?: string) => {
      if (name !== undefined) return named[name.toLowerCase()] as string;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      return code <= maxCodePoint ? String.fromCodePoint(code) : whole;
    },
  );
}

/** Text that may be base64, in the standard or the URL-safe alphabet. Shorter texts encode at most five bytes. */
const base64 = /[\w+/-]{8,}={0,2}/g;

/** Masks base64 texts that contain a secret, such as `user:secret`. */
function maskBase64(text: string, maskPlain: Masking): string {
  const revealsFrom = (encoded: string, start: number) => {
    const decoded = Buffer.from(encoded.slice(start), "base64").toString();
    return maskPlain(decoded) !== decoded;
  };
  // A path or a prefix in the same alphabet may precede the base64 text, so it may start at any character.
  return text.replace(base64, (found) =>
    [0, 1, 2, 3].some((start) => revealsFrom(found, start)) ? mask : found,
  );
}
