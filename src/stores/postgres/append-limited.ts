import type { Append, ClaimLimit } from "../../core/store/contract.ts";
import { type Calls, isPlain, oneCall, placeholders } from "./append-plain.ts";
import { LIMITED } from "./limited-function.ts";
import type { Opened, Place } from "./migrations.ts";
import type { Statement } from "./statement.ts";

/**
 * One statement for an append whose claim has limits; `null` for one that isn't of this kind. The locks are taken in
 * the order given.
 */
export function limitedCall(
  { at, calls, opened }: Place & { readonly calls: Calls; readonly opened: Opened },
  append: Append,
  limits: readonly ClaimLimit[],
  locks: readonly string[],
): Statement | null {
  const one = isPlain(append) ? oneCall(calls, opened, append) : null;
  if (!one) return null;
  const queues = limits.map(({ queue }) => queue);
  const keys = limits.map(({ key }) => key ?? null);
  const most = limits.map((limit) => limit.most);
  const text = `SELECT ${at}append_limited(${placeholders(LIMITED.length)})`;
  return { text, values: [locks, queues, keys, most, ...one.values] };
}
