import { signal } from "@preact/signals";
import type { LiveLine } from "../service/console/answers";
import { request, signedIn } from "./session";

/** How the jobs stand now; undefined before the first line has come. */
export const latest = signal<LiveLine | undefined>(undefined);

/** Whether lines come in. */
export const connection = signal<"connecting" | "live" | "paused" | "lost">("connecting");

let stop: AbortController | undefined;

/** Follows the service as long as the page is looked at. */
export function follow(): void {
  document.addEventListener("visibilitychange", () => (document.hidden ? pause() : begin()));
  begin();
}

function pause(): void {
  stop?.abort();
  stop = undefined;
  connection.value = "paused";
}

function begin(): void {
  if (stop) return;
  stop = new AbortController();
  void keepReading(stop.signal);
}

async function keepReading(signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted && signedIn.value.state === "in"; ) {
    try {
      const answer = await request("console/api/live", { signal });
      failures = 0;
      connection.value = "live";
      for await (const line of linesOf(answer)) latest.value = JSON.parse(line) as LiveLine;
    } catch {
      if (signal.aborted) return;
      failures++;
      connection.value = "lost";
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(500 * 2 ** failures, 10_000)));
  }
}

async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const reader = (body as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    yield* lines.filter(Boolean);
  }
}
