let inFlight = 0;
let began = false;

/** Whether this process has sent a call that creates. */
export function hasCreated(): boolean {
  return began;
}

/** Whether a call that creates is under way in this process: it must not end before it knows the outcome. */
export function isCreating(): boolean {
  return inFlight > 0;
}

/** Does work that creates. */
export async function trackCreate<T>(work: () => Promise<T>): Promise<T> {
  began = true;
  inFlight++;
  try {
    return await work();
  } finally {
    inFlight--;
  }
}
