import type { Clock } from "../../clock.ts";
import { type Kept, UNCHANGED } from "../../flow/kept.ts";
import type { Logger } from "../../logger.ts";
import { type AlertLinks, type AlertNotification, type NotifyChannel, notificationOf } from "./channel.ts";
import type { AlertRecord, Pending } from "./record.ts";

export interface DeliverDeps {
  readonly alerts: Kept<AlertRecord>;
  readonly channels: readonly NotifyChannel[];
  readonly links: AlertLinks;
  readonly clock: Clock;
  readonly logger: Logger;
  /** False when another process may look after alerts by now. */
  readonly mayGoOn: () => boolean;
}

const FIRST_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 1_800_000;
/** A message that isn't delivered within a day is given up. */
const PATIENCE_MS = 86_400_000;
const SEND_MS = 30_000;

/** A message, and the alerts that it is about: several when they opened at once. */
interface Parcel {
  readonly id: string;
  readonly message: Pending;
  readonly alerts: readonly AlertRecord[];
}

/**
 * Delivers what is pending, each message to each channel. That a channel has it is written before the next one is
 * tried, so a process that is killed repeats at most one delivery, under the same id.
 */
export async function deliverAll(
  deps: DeliverDeps,
  alerts: readonly AlertRecord[],
  now: number,
): Promise<void> {
  for (const parcel of parcelsOf(alerts)) {
    if (parcel.message.nextAt > now) continue;
    for (const channel of deps.channels) {
      if (!deps.mayGoOn()) return;
      if (!parcel.message.done.includes(channel.name)) await deliver(deps, parcel, channel, now);
    }
    await settle(deps, parcel, now);
  }
}

function parcelsOf(alerts: readonly AlertRecord[]): readonly Parcel[] {
  const parcels = new Map<string, Parcel>();
  for (const alert of alerts)
    for (const message of alert.pending) {
      const id = message.bundle ?? message.id;
      const before = parcels.get(id);
      parcels.set(id, {
        id,
        message: before?.message ?? message,
        alerts: [...(before?.alerts ?? []), alert],
      });
    }
  return [...parcels.values()];
}

async function deliver(
  deps: DeliverDeps,
  parcel: Parcel,
  channel: NotifyChannel,
  now: number,
): Promise<void> {
  const { alerts, message, id } = parcel;
  const [first] = alerts;
  if (!first) return;
  const notification = notificationOf(first, { ...message, id }, deps.links, alerts.length - 1);
  const error = await sent(deps.clock, channel, notification);
  if (error === null) {
    await change(deps, parcel, (one) => ({ ...one, done: [...new Set([...one.done, channel.name])] }));
    return;
  }
  const tries = message.tries + 1;
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(tries - 1, 10), LONGEST_PAUSE_MS);
  deps.logger.warn("a notification could not be delivered", {
    channel: channel.name,
    alert: first.key,
    tries,
    error,
  });
  await change(deps, parcel, (one) => ({
    ...one,
    tries,
    nextAt: now + pause,
    error: `${channel.name}: ${error}`,
  }));
}

/** Why it wasn't sent; `null` when it was. */
export async function sent(
  clock: Clock,
  channel: NotifyChannel,
  notification: AlertNotification,
): Promise<string | null> {
  let cancel = (): void => undefined;
  const late = new Promise<string>((resolve) => {
    cancel = clock.setTimer(() => resolve(`no answer within ${SEND_MS / 1_000} s`), SEND_MS, {
      background: true,
    });
  });
  const sending = Promise.resolve()
    .then(() => channel.send(notification))
    .then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, 300),
    );
  try {
    return await Promise.race([sending, late]);
  } finally {
    cancel();
  }
}

/** Takes a message out that every channel has, or that is too old. */
async function settle(deps: DeliverDeps, { id, alerts }: Parcel, now: number): Promise<void> {
  const isEverywhere = ({ done }: Pending): boolean => deps.channels.every(({ name }) => done.includes(name));
  const isHere = (one: Pending): boolean => (one.bundle ?? one.id) === id;
  for (const { key } of alerts)
    await deps.alerts.change(key, (current) => {
      const mine = current?.pending.find(isHere);
      if (!current || !mine) return UNCHANGED;
      const isLate = !isEverywhere(mine) && now - mine.at > PATIENCE_MS;
      if (!isEverywhere(mine) && !isLate) return UNCHANGED;
      if (isLate) deps.logger.error("a notification was given up", { alert: key, error: mine.error });
      const undelivered = current.undelivered + (isLate ? 1 : 0);
      return { ...current, undelivered, pending: current.pending.filter((one) => !isHere(one)) };
    });
}

async function change(
  deps: DeliverDeps,
  { id, alerts }: Parcel,
  next: (message: Pending) => Pending,
): Promise<void> {
  for (const { key } of alerts)
    await deps.alerts.change(key, (current) =>
      current === null
        ? UNCHANGED
        : {
            ...current,
            pending: current.pending.map((one) => ((one.bundle ?? one.id) === id ? next(one) : one)),
          },
    );
}
