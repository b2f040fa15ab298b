/** Whether a place is a database of PostgreSQL and not a file. */
export function isPostgresUrl(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place);
}

/** The address of a database as people may see it. */
export function withoutPassword(url: string): string {
  const address = new URL(url);
  address.password = "";
  address.searchParams.delete("password");
  return address.href;
}
