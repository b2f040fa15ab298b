let underWay = 0;

/** Whether a call that creates is under way in this process: it must not end before it knows the outcome. */
export function isCreating(): boolean {
  return underWay > 0;
}

/** Does work that creates. */
export async function creating<T>(work: () => Promise<T>): Promise<T> {
  underWay++;
  try {
    return await work();
  } finally {
    underWay--;
  }
}
