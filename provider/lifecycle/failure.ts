/** Error of a step that failed halfway. The engine stores its state and calls `update` in the next run. */
export class PartialStateError extends Error {
  override readonly name = "PartialStateError";
  readonly reasons: string[];

  constructor(
    readonly id: string,
    /** State to store. The dynamic provider reads this property. */
    public properties: object,
    reason: string,
  ) {
    super(reason);
    this.reasons = [reason];
  }
}

/** Removes the stack trace from errors of `work`, because the dynamic provider would print it. */
export async function withoutStack<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    (error as Error).stack = "";
    throw error;
  }
}
