/** Whether a location is the address of a PostgreSQL database, not a file. */
export function isPostgresUrl(location: string): boolean {
  return /^postgres(ql)?:\/\//.test(location);
}

/** Returns the address of a database without its password, for messages. */
export function withoutPassword(url: string): string {
  const address = new URL(url);
  address.password = "";
  address.searchParams.delete("password");
  return address.href;
}
