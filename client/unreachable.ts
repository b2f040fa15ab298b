/** Whether an error means that no connection to the service or its token endpoint could be opened. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof Error && "isUnreachable" in error && error.isUnreachable === true;
}
