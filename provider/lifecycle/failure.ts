/** An error after which the engine keeps the given state, and calls update next time. */
export class PartialStateError extends Error {
  override readonly name = "PartialStateError";
  readonly reasons: string[];

  constructor(
    readonly id: string,
    /** What is kept; the dynamic provider hands it to the engine. */
    public properties: object,
    reason: string,
  ) {
    super(reason);
    this.reasons = [reason];
  }
}

/** The dynamic provider prints the stack of what these calls throw; the message alone is what people need. */
export async function withoutStack<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    (error as Error).stack = "";
    throw error;
  }
}
