import {
  cutJson,
  cutReply,
  drip,
  during,
  gone,
  htmlPage,
  instead,
  keyInProgress,
  noDeployment,
  noRoute,
  redirects,
  rejectWith,
  resetAfter,
  resetBefore,
  stall,
  wrongType,
} from "./faults";
import type { Fault } from "./proxy";
import type { LocalStack } from "./runs";

/** Fault of a call. */
export interface Trouble {
  readonly fault: (stack: LocalStack) => Fault;
  /** Whether the fault affects all calls for some time instead of one call. */
  readonly lasts?: true;
  /** Minimum and maximum time that the client must wait. */
  readonly waitMs?: readonly [number, number];
}

const hourMs = 3_600_000;
const untilDate = (skewMs: number): Fault => {
  const now = Date.now() + skewMs;
  const inTenSeconds = new Date(now + 10_000).toUTCString();
  return rejectWith(429, { date: new Date(now).toUTCString(), "retry-after": inTenSeconds });
};
/** All faults, with their names in the documentation. */
export const troubles: Record<string, Trouble> = {
  "429, once": { fault: () => rejectWith(429) },
  "429 with Retry-After, for half a minute": {
    fault: ({ clock }) => during(clock, 30_000, rejectWith(429, { "retry-after": "3" })),
    lasts: true,
    waitMs: [30_000, 90_000],
  },
  "429 until a date, by a clock that is an hour ahead": {
    fault: () => untilDate(hourMs),
    waitMs: [9_000, 60_000],
  },
  "429 until a date, by a clock that is an hour behind": {
    fault: () => untilDate(-hourMs),
    waitMs: [9_000, 60_000],
  },
  "503 with Retry-After, for a minute": {
    fault: ({ clock }) => during(clock, 60_000, rejectWith(503, { "retry-after": "5" })),
    lasts: true,
    waitMs: [60_000, 120_000],
  },
  "503, once": { fault: () => rejectWith(503) },
  "401: the token has expired": { fault: () => rejectWith(401) },
  "reset before the service has it": { fault: () => resetBefore },
  "reset after the service has done it": { fault: () => resetAfter },
  "reply broken off": { fault: () => cutReply },
  "reply whose JSON breaks off": { fault: () => cutJson },
  "reply that stalls": { fault: () => stall },
  "reply byte by byte": { fault: () => drip },
  "reply called text/html": { fault: () => wrongType },
  "HTML page with 502, not done": { fault: () => htmlPage(502, { taken: false }) },
  "HTML page with 502, done": { fault: () => htmlPage(502, { taken: true }) },
  "HTML page with 503, not done": { fault: () => htmlPage(503, { taken: false }) },
  "HTML page with 200, not done": { fault: () => htmlPage(200, { taken: false }) },
  "HTML page with 200, done": { fault: () => htmlPage(200, { taken: true }) },
  "HTML page with 404, not done": { fault: () => htmlPage(404, { taken: false }) },
  "404 of a gateway in JSON, not done": { fault: () => instead(404, noRoute, { taken: false }) },
  "404 of a gateway in JSON, done": { fault: () => instead(404, noRoute, { taken: true }) },
  "404 of a router about a deployment, not done": {
    fault: () => instead(404, noDeployment, { taken: false }),
  },
  "404 without a body, not done": { fault: () => instead(404, "", { taken: false }) },
  "410 of a gateway in JSON, not done": { fault: () => instead(410, gone, { taken: false }) },
  "200 without a body, not done": { fault: () => instead(200, "", { taken: false }) },
  "200 with {}, not done": { fault: () => instead(200, "{}", { taken: false }) },
  "204 without a body, done": { fault: () => instead(204, "", { taken: true }) },
  "redirect to a login page, not done": { fault: redirects },
  "409 for a key in progress, done": { fault: () => instead(409, keyInProgress, { taken: true }) },
};
