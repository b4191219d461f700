import { BlockList, isIP } from "node:net";

/** The addresses of proxies whose `X-Forwarded-For` is believed: single ones (`10.0.0.7`) or networks (`10.0.0.0/8`). */
export function trustedProxies(addresses: readonly string[]): BlockList {
  const list = new BlockList();
  for (const address of addresses) {
    const [base = "", bits] = address.split("/");
    const family = isIP(base) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(base, family);
    else list.addSubnet(base, Number(bits), family);
  }
  return list;
}

/** True for an address, or a network such as `10.0.0.0/8`. */
export function isAddressOrNetwork(text: string): boolean {
  const [base = "", bits, ...more] = text.split("/");
  const family = isIP(base);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** IPv4 inside IPv6 is the same address. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");

const isTrusted = (list: BlockList, address: string): boolean => {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? "ipv6" : "ipv4");
};

/**
 * The address of the caller: that of the connection, or, behind trusted proxies, the last one in `X-Forwarded-For` that
 * isn't a proxy. What stands before it was written by the caller and says nothing.
 */
export function clientAddress(
  peer: string | undefined,
  forwarded: string | null,
  trusted: BlockList,
): string {
  let address = plain(peer ?? "unknown");
  const hops = (forwarded ?? "").split(",").map((hop) => plain(hop.trim()));
  while (isTrusted(trusted, address)) {
    const next = hops.pop();
    if (next === undefined || isIP(next) === 0) break;
    address = next;
  }
  return address;
}
