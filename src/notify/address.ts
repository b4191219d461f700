import { BlockList, isIP } from "node:net";

/** Networks that no webhook reaches unless its owner allows it: this machine, private networks, and what isn't a host. */
const PRIVATE_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/** Parts of the global range that lead elsewhere: into IPv4 by translation or tunnels, or to examples. */
const SPECIAL_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/** Link-local addresses, among them those where clouds answer with credentials. Nobody may allow these. */
const NEVER = ["169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "100.100.100.200/32", "168.63.129.16/32"];

export function networks(list: readonly string[]): BlockList {
  const made = new BlockList();
  for (const one of list) {
    const [base = "", bits] = one.split("/");
    const family = isIP(base) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) made.addAddress(base, family);
    else made.addSubnet(base, Number(bits), family);
  }
  return made;
}

const privateV4 = networks(PRIVATE_V4);
const globalV6 = networks(["2000::/3"]);
const specialV6 = networks(SPECIAL_V6);
const never = networks(NEVER);

/** The four bytes that an IPv4-mapped address stands for, however it is written; else the address. */
function plain(address: string): string {
  const bare = address.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  if (isIP(bare) !== 6) return bare;
  const mapped = /^::(?:ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  if (mapped !== undefined) return mapped;
  // The parser writes every form of the same address alike.
  const [, high, low] =
    /^\[::(?:ffff:)?([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(new URL(`http://[${bare}]`).hostname) ?? [];
  if (high === undefined || low === undefined) return bare;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join(".");
}

export type Reach = "public" | "private" | "never";

/** Where an address leads. What isn't an address leads nowhere. */
export function reachOf(given: string): Reach {
  const address = plain(given);
  const family = isIP(address);
  if (family === 0) return "never";
  const kind = family === 6 ? "ipv6" : "ipv4";
  if (never.check(address, kind)) return "never";
  if (family === 4) return privateV4.check(address, "ipv4") ? "private" : "public";
  return globalV6.check(address, "ipv6") && !specialV6.check(address, "ipv6") ? "public" : "private";
}
