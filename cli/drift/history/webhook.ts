/** Longest time that a webhook may take to answer. */
const timeoutMs = 15_000;

/** Answers that are safe to quote: short codes such as `invalid_payload`. Other answers may repeat the address. */
const code = /^[a-z][a-z_]{1,40}$/;

/** Throws if a text is not the address of a webhook. The message does not contain it, because it is a secret. */
export function assertWebhook(url: string): void {
  if (!/^https?:\/\/[^/?#]/.test(url) || !URL.canParse(url))
    throw new Error("--notify (RECOMMENDER_NOTIFY_URL): expected the address of a webhook, with https://.");
  const { username, password } = new URL(url);
  // `fetch` rejects such an address, and its error would read as if the webhook could not be reached.
  if (username || password)
    throw new Error("--notify (RECOMMENDER_NOTIFY_URL): remove the user name and password from the address.");
}

/**
 * Posts a message to a Slack-compatible webhook once. Returns why it failed, or undefined. Never repeats a request,
 * because the message may have arrived although the answer was lost.
 */
export async function post(url: string, text: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ text }),
      // Another server must not get the findings.
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body = response.ok ? "" : await beginningOf(response);
    // Only the status matters: the receiver has the message, even if its response never ends.
    void response.body?.cancel().catch(() => {});
    if (response.ok) return undefined;
    return `it answered ${response.status}${code.test(body) && !url.includes(body) ? ` ${body}` : ""}`;
  } catch (error) {
    // The message of the error is left out, because it may contain the address.
    const { name, cause } = error as Error & { cause?: { code?: unknown } };
    if (name === "TimeoutError") return `it did not answer within ${timeoutMs / 1000} s`;
    const reason = typeof cause?.code === "string" ? cause.code : "no connection";
    return `it cannot be reached (${reason})`;
  }
}

/** Returns the start of an answer, or an empty text if it does not arrive. The short codes to quote fit into that. */
async function beginningOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  try {
    const part = await reader?.read();
    return new TextDecoder().decode(part?.value).trim();
  } catch {
    return "";
  } finally {
    reader?.releaseLock();
  }
}
