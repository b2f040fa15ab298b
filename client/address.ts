/**
 * Returns the canonical spelling of an address: scheme and host in lower case, no default port, no trailing slash.
 * `HTTP://API.example.com:80/` becomes `http://api.example.com`.
 */
export function canonicalAddress(address: string): string {
  const isUrl = /^https?:/i.test(address) && URL.canParse(address);
  return (isUrl ? new URL(address).href : address).replace(/\/+$/, "");
}

/** Whether two addresses are the same, apart from their spelling. */
export function isSameAddress(one: string, other: string | undefined): boolean {
  return other !== undefined && canonicalAddress(one) === canonicalAddress(other);
}

/** Whether an address refers to a service on this machine. */
export function isOnThisMachine(address: string): boolean {
  if (address.startsWith("embedded:")) return true;
  const host = URL.canParse(address) ? new URL(address).hostname : "";
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);
}

/**
 * Returns the address of a service. For a service on this machine, also returns its address with the host localhost.
 * Two services on this machine can share that address, so a match only raises doubts.
 */
export function possibleAddresses(address: string): string[] {
  const canonical = canonicalAddress(address);
  if (canonical.startsWith("embedded:") || !isOnThisMachine(canonical)) return [canonical];
  const local = new URL(canonical);
  local.hostname = "localhost";
  return [...new Set([canonical, canonicalAddress(local.href)])];
}
