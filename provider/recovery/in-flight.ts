let inFlight = 0;
let hasStarted = false;

/** Whether this process has sent a create. */
export function hasCreated(): boolean {
  return hasStarted;
}

/** Whether a create is in flight. The process must not exit before it knows the outcome. */
export function isCreating(): boolean {
  return inFlight > 0;
}

/** Runs `work`, which sends a create, and counts it as in flight. */
export async function trackCreate<T>(work: () => Promise<T>): Promise<T> {
  hasStarted = true;
  inFlight++;
  try {
    return await work();
  } finally {
    inFlight--;
  }
}
