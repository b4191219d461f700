import { badOption, checkKeys, checkMethod, checkNumber, checkText, keysOf } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import { detached } from "../../detached.ts";
import { HoldfastError } from "../../errors.ts";
import { Kept } from "../../flow/kept.ts";
import { type Act, checkAct } from "../../journal/act.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { onDemand } from "../../on-demand.ts";
import type { Documents } from "../../store/documents.ts";
import type { StoreState } from "../../store/health.ts";
import type { Slo } from "../slo/slo.ts";
import { type AlertLinks, type AlertNotification, type NotifyChannel, notificationOf } from "./channel.ts";
import { MonthBudgets } from "./month-budgets.ts";
import { type AlertRecord, isAlert, RULES } from "./record.ts";
import type { AlertWatch, Source } from "./watch.ts";

/** Who hears about what goes wrong, and when. */
export interface AlertOptions extends AlertLinks {
  /** Where notifications go: channels of `holdfast/notify`, or functions, such as one that sends a mail. */
  readonly notify?: readonly (NotifyChannel | ((notification: AlertNotification) => Promise<void>))[];
  /** How often to look for causes. Default 15 s. */
  readonly everyMs?: number;
  /** A gate that waits longer is worth a call. Default 30 min. */
  readonly gateAfterMs?: number;
  /** How long the store may be away before somebody is called. Default 20 s. */
  readonly awayAfterMs?: number;
  /** Open alerts that nobody looks after are told again after this time. Default 30 min for `P1`, 4 h for `P2`. */
  readonly remindMs?: { readonly P1?: number; readonly P2?: number };
  /** A `P2` that nobody looks after becomes a `P1` after this time. Default 8 h. */
  readonly escalateMs?: number;
  /** How many of the newest runs are verified every hour. Default 200. */
  readonly verifyRuns?: number;
}

/** An alert as people see it. */
export interface Alert extends Omit<AlertRecord, "pending"> {
  /** Messages that are on their way, with the last problem of each. */
  readonly pending: readonly {
    readonly news: string;
    readonly tries: number;
    readonly error: string | null;
  }[];
  readonly links: AlertNotification["links"];
}

export interface AlertsPage {
  /** Open ones first: `P1` before `P2`, the newest first. */
  readonly alerts: readonly Alert[];
  readonly open: { readonly P1: number; readonly P2: number };
}

/** What became of a test message on a channel. */
export interface TestResult {
  readonly channel: string;
  readonly ok: boolean;
  readonly error: string | null;
}

interface Owned {
  readonly parts: EngineParts;
  readonly slo: Slo;
  readonly owner: string;
  readonly storeState: () => StoreState;
  readonly sources: readonly Source[];
}

const EVERY_MS = 15_000;

const watching = onDemand(() => import("./watching.ts"));

/**
 * Alerts: each has a key, opens once however many processes look, is told again when nobody looks after it, becomes
 * more urgent, and clears itself. They are documents of the store, together with the messages that are still to be sent.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 *
 * export async function urgent(engine: Engine): Promise<string[]> {
 *   const { alerts } = await engine.alerts.list();
 *   return alerts.filter(({ severity }) => severity === "P1").map(({ summary }) => summary);
 * }
 * ```
 */
export class Alerts {
  /** Budgets of a month, by label or workflow. */
  readonly budgets: MonthBudgets;
  readonly #owned: Owned;
  readonly #options: AlertOptions;
  readonly #channels: readonly NotifyChannel[];
  readonly #kept: Kept<AlertRecord>;
  #made: Promise<AlertWatch> | undefined;
  #isWatching = false;

  constructor(owned: Owned, options: AlertOptions = {}) {
    checkAlertOptions(options);
    this.#owned = owned;
    this.#options = options;
    this.#channels = channelsOf(options);
    const newVersion = () => owned.parts.ports.ids.token();
    this.budgets = new MonthBudgets(owned.parts.store, () => this.#documents(), newVersion);
    this.#kept = new Kept({
      documents: () => this.#documents(),
      newVersion,
      kind: "alert",
      isValid: isAlert,
    });
  }

  /** The open alerts, or also those that were cleared within a week. */
  async list({ all = false }: { readonly all?: boolean } = {}): Promise<AlertsPage> {
    const found = (await this.#kept.all()).map(({ value }) => value);
    const open = found.filter(({ state }) => state === "open");
    const count = (severity: "P1" | "P2"): number => open.filter((one) => one.severity === severity).length;
    const shown = (all ? found : open).toSorted(byUrgency).map((one) => this.#shown(one));
    return { alerts: shown, open: { P1: count("P1"), P2: count("P2") } };
  }

  /** Says that somebody looks after an alert: no reminders, no escalation, until it is cleared (HF-6120 if there is none). */
  async ack(key: string, act: Act = {}): Promise<Alert> {
    checkText("alert", key, 1, 256);
    checkAct(act);
    const at = await this.#owned.parts.store.now();
    const acked = { by: act.actor ?? null, at, reason: act.reason ?? null };
    const held = await this.#kept.change(key, (current) => {
      if (current?.state !== "open") throw new HoldfastError("HF-6120", { alert: key });
      return { ...current, acked };
    });
    if (!held) throw new HoldfastError("HF-6120", { alert: key });
    return this.#shown(held.value);
  }

  /** Sends a test message to every channel of this process, and says what came of it (HF-6121 if there is none). */
  async test(): Promise<readonly TestResult[]> {
    if (this.#channels.length === 0) throw new HoldfastError("HF-6121");
    const { sent } = await watching();
    const { clock, ids } = this.#owned.parts.ports;
    const at = clock.now();
    const about = { key: "test", kind: "test", since: at, run: null, workflow: null } as const;
    const summary = "this is a test: nothing is wrong";
    const message = { id: ids.id(), news: "test", at, severity: "P2" } as const;
    const notification = notificationOf({ ...about, summary }, message, this.#options);
    return Promise.all(
      this.#channels.map(async (channel) => {
        const error = await sent(clock, channel, notification);
        return { channel: channel.name, ok: error === null, error };
      }),
    );
  }

  /** Looks once for causes of alerts, unless another process does, and tells people. */
  async check(): Promise<AlertsPage> {
    const watch = await this.#watching();
    await watch.pass();
    return this.list();
  }

  /**
   * Looks again and again, until the engine is closed. Any number of processes may do this: one of them acts, and
   * another takes over when it is gone. `background`: doesn't keep the process alive.
   */
  watch({ background = true }: { readonly background?: boolean } = {}): void {
    this.#documents();
    if (this.#isWatching) return;
    this.#isWatching = true;
    const started = this.#watching().then((watch) => watch.start(background));
    detached(started, this.#owned.parts.ports.logger, "watching for alerts");
  }

  /** Begins to look, if the engine was given alert options. */
  begin(isWanted: boolean): void {
    if (isWanted && this.#owned.parts.store.documents) this.watch();
  }

  /** Stops looking; `release`: and leaves the alerts to other processes at once. */
  async stop(release = true): Promise<void> {
    const made = await this.#made?.catch(() => undefined);
    await made?.stop(release);
  }

  #watching(): Promise<AlertWatch> {
    this.#made ??= this.#make();
    return this.#made;
  }

  async #make(): Promise<AlertWatch> {
    const { AlertLease, AlertWatch, AwayWatch } = await watching();
    const { parts, slo, owner, storeState, sources } = this.#owned;
    const { clock, ids, logger } = parts.ports;
    const {
      everyMs = EVERY_MS,
      gateAfterMs = 1_800_000,
      awayAfterMs = 20_000,
      remindMs,
      escalateMs,
      verifyRuns = 200,
    } = this.#options;
    const links = this.#options;
    const delivery = { channels: this.#channels, links, clock, logger };
    return new AlertWatch({
      parts,
      slo,
      alerts: this.#kept,
      lease: new AlertLease(
        () => this.#documents(),
        () => ids.token(),
        { owner: `${owner}-${ids.id().slice(0, 6)}`, ms: 3 * everyMs, clock },
      ),
      away: new AwayWatch({
        channels: this.#channels,
        links,
        clock,
        storeName: parts.store.name,
        afterMs: awayAfterMs,
      }),
      delivery,
      rules: {
        ...RULES,
        remindMs: { ...RULES.remindMs, ...remindMs },
        ...defined({ escalateMs }),
        gateAfterMs,
        verifyRuns,
      },
      everyMs,
      storeState,
      more: [...sources, this.budgets.source],
    });
  }

  #shown({ pending, ...record }: AlertRecord): Alert {
    const message = { id: "", news: "opened", at: record.openedAt, severity: record.severity } as const;
    return {
      ...record,
      pending: pending.map(({ news, tries, error }) => ({ news, tries, error })),
      links: notificationOf(record, message, this.#options).links,
    };
  }

  #documents(): Documents {
    const { name, documents } = this.#owned.parts.store;
    if (!documents) throw new HoldfastError("HF-6011", { what: "alerts", store: name });
    return documents;
  }
}

const byUrgency = (a: AlertRecord, b: AlertRecord): number =>
  Number(a.state === "cleared") - Number(b.state === "cleared") ||
  a.severity.localeCompare(b.severity) ||
  b.openedAt - a.openedAt ||
  (a.key < b.key ? -1 : 1);

/** A function is a channel too. */
function channelsOf({ notify = [] }: AlertOptions): readonly NotifyChannel[] {
  let hooks = 0;
  const channels = notify.map((one) =>
    typeof one === "function" ? { name: hooks++ === 0 ? "hook" : `hook-${hooks}`, send: one } : one,
  );
  const names = channels.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw badOption("alerts.notify", `two channels are named ${twice}`);
  return channels;
}

function checkAlertOptions(options: AlertOptions): void {
  checkKeys(
    options,
    keysOf<AlertOptions>({
      notify: true,
      everyMs: true,
      gateAfterMs: true,
      awayAfterMs: true,
      remindMs: true,
      escalateMs: true,
      verifyRuns: true,
      dashboardUrl: true,
      runbookUrl: true,
    }),
    "alerts",
  );
  const { notify = [], remindMs = {}, dashboardUrl, runbookUrl, ...times } = options;
  if (!Array.isArray(notify)) throw badOption("alerts.notify", "it must be a list of channels");
  for (const one of notify as readonly unknown[])
    if (typeof one !== "function") checkMethod("alerts.notify", one as NotifyChannel, "send");
  for (const [name, value] of Object.entries({ ...times, ...remindMs }))
    if (value !== undefined) checkNumber(`alerts.${name}`, value);
  for (const url of [dashboardUrl, runbookUrl]) if (url !== undefined) checkText("alerts url", url, 1, 2_000);
}
