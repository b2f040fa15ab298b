import { signal } from "@preact/signals";
import type { LiveLine } from "../service/console/responses";
import { request, signInState } from "./session";

/** The latest live update, with the status of the jobs. Undefined until the first update arrives. */
export const liveStatus = signal<LiveLine | undefined>(undefined);

/** The state of the connection that delivers live updates. */
export const connection = signal<"connecting" | "live" | "paused" | "lost">("connecting");

let stop: AbortController | undefined;

/** Receives live updates while the page is visible. */
export function startLiveUpdates(): void {
  document.addEventListener("visibilitychange", () => (document.hidden ? stopReading() : startReading()));
  startReading();
}

function stopReading(): void {
  stop?.abort();
  stop = undefined;
  connection.value = "paused";
}

function startReading(): void {
  if (stop) return;
  stop = new AbortController();
  void keepReading(stop.signal);
}

async function keepReading(signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted && signInState.value.state === "in"; ) {
    try {
      const answer = await request("console/api/live", { signal });
      failures = 0;
      connection.value = "live";
      for await (const line of linesOf(answer)) liveStatus.value = JSON.parse(line) as LiveLine;
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
