import { lookup as resolve } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { HoldfastError } from "../core/errors.ts";
import { networks, reachOf } from "./address.ts";

/** Which hosts a webhook may reach. */
export interface GuardOptions {
  /** Hosts that may be internal, and reached without TLS: names (`hooks.internal`), addresses, or networks. */
  readonly allowHosts?: readonly string[];
  readonly timeoutMs?: number;
  /** Finds the addresses of a name. Default: the system's resolver. */
  readonly resolve?: (
    host: string,
  ) => Promise<readonly { readonly address: string; readonly family: number }[]>;
}

const TIMEOUT_MS = 10_000;

interface Allowed {
  readonly isNamed: boolean;
  readonly isIn: (address: string) => boolean;
}

/** What the owner allows for a host. Names count exactly, without those below them. */
function allowedFor(host: string, { allowHosts = [] }: GuardOptions): Allowed {
  const list = networks(allowHosts.filter((one) => isIP(one.split("/")[0] ?? "") !== 0));
  return {
    isNamed: allowHosts.some((one) => one.toLowerCase() === host),
    isIn: (address) => list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4"),
  };
}

const hostOf = ({ hostname }: URL): string =>
  hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");

/** Refuses a URL that can't be right, before anything is looked up (HF-6122). */
export function checkUrl(url: URL, options: GuardOptions): void {
  const host = hostOf(url);
  const allowed = allowedFor(host, options);
  const isAllowed = allowed.isNamed || (isIP(host) !== 0 && allowed.isIn(host));
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isAllowed))
    throw refused(host, "it isn't reached over HTTPS");
  if (url.username !== "" || url.password !== "")
    throw refused(host, "its URL has a name or a password in it");
  if (isIP(host) !== 0) checkAddress(host, host, allowed);
}

function checkAddress(host: string, address: string, { isNamed, isIn }: Allowed): void {
  const reach = reachOf(address);
  if (reach === "never") throw refused(host, `${address} is never reached`);
  if (reach === "private" && !isNamed && !isIn(address))
    throw refused(host, `${address} is not a public address`);
}

const refused = (host: string, problem: string): HoldfastError =>
  new HoldfastError("HF-6122", { host: host === "" ? "(no host)" : host, problem });

/**
 * Finds the addresses of a host and refuses it if a single one of them is internal. The connection is made to what was
 * checked: the name isn't looked up a second time, so an answer that changes in between changes nothing.
 */
async function pinned(
  url: URL,
  options: GuardOptions,
): Promise<readonly { readonly address: string; readonly family: number }[]> {
  const host = hostOf(url);
  checkUrl(url, options);
  if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }];
  const find = options.resolve ?? ((name: string) => resolve(name, { all: true }));
  const found = await find(host).catch(() => []);
  if (found.length === 0) throw new HoldfastError("HF-6123", { host, problem: "its name is not known" });
  const allowed = allowedFor(host, options);
  for (const { address } of found) checkAddress(host, address, allowed);
  return found;
}

/** Sends a POST to a checked address. Only 2xx counts as taken; redirects aren't followed (HF-6123). */
export async function guardedPost(
  target: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  options: GuardOptions = {},
): Promise<void> {
  const url = new URL(target);
  const addresses = await pinned(url, options);
  const host = hostOf(url);
  const lookup: LookupFunction = (_, { all }, done) => {
    const [first] = addresses;
    if (all) done(null, [...addresses]);
    else done(null, first?.address ?? "", first?.family ?? 4);
  };
  const bytes = Buffer.from(body, "utf8");
  const given = { ...headers, "content-length": String(bytes.length) };
  const timeout = options.timeoutMs ?? TIMEOUT_MS;
  const answer = await new Promise<number>((resolveStatus, reject) => {
    const fail = (problem: string): void => reject(new HoldfastError("HF-6123", { host, problem }));
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const signal = AbortSignal.timeout(timeout);
    const sending = send(url, { method: "POST", headers: given, lookup, agent: false, signal });
    sending.on("response", (response: IncomingMessage) => {
      // What it says besides isn't read.
      response.destroy();
      resolveStatus(response.statusCode ?? 0);
    });
    sending.on("error", (error: NodeJS.ErrnoException) =>
      fail(
        signal.aborted ? `no answer within ${timeout / 1_000} s` : (error.code ?? "the connection failed"),
      ),
    );
    sending.end(bytes);
  });
  if (answer >= 300 && answer < 400)
    throw new HoldfastError("HF-6123", { host, problem: "it redirects elsewhere" });
  if (answer < 200 || answer >= 300)
    throw new HoldfastError("HF-6123", { host, problem: `status ${answer}` });
}
