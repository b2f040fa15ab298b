/** Returns an origin as browsers send it in the `Origin` header. Throws if the text is not exactly one origin. */
export function webOrigin(text: string): string {
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  const given = text.toLowerCase();
  // Browsers leave out the default port.
  if (url && (given === url.origin || given.replace(/:(80|443)$/, "") === url.origin)) return url.origin;
  const similar = url ? `Write ${url.origin}.` : "An example is https://shop.example.com.";
  throw new Error(
    `${JSON.stringify(text.slice(0, 200))} is not an origin. An origin is the scheme, host and port of a web page, ` +
      `without a path. ${similar}`,
  );
}
