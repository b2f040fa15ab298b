import * as ipaddr from "ipaddr.js";

/**
 * Returns the network that a rate limit counts as one caller: an IPv4 address, or the first 48 bits of an IPv6 address.
 * A single customer of a provider can use all addresses with these bits.
 */
export function networkOf(ip: string): string {
  // A trusted proxy may send other text, such as "unknown".
  if (!ipaddr.isValid(ip)) return "unknown";
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return address.toString();
  const [first = 0, second = 0, third = 0] = "parts" in address ? address.parts : [];
  return `${[first, second, third].map((part) => part.toString(16)).join(":")}::/48`;
}

const namedNetworks = ["loopback", "linklocal", "uniquelocal"];

/** Returns the addresses of trusted proxies. Throws if one of them is neither an address, nor a network, nor a name. */
export function trustedProxies(given: readonly string[]): string[] {
  for (const text of given) {
    if (
      namedNetworks.includes(text) ||
      ipaddr.isValidCIDR(text) ||
      (ipaddr.isValid(text) && /[.:]/.test(text))
    )
      continue;
    throw new Error(
      `${JSON.stringify(text.slice(0, 200))} is not the address of a proxy. Use an IP address, a network such as ` +
        `10.0.0.0/8, or one of ${namedNetworks.join(", ")}.`,
    );
  }
  return [...given];
}
