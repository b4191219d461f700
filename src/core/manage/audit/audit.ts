import type { AnchorState } from "../../audit/anchors.ts";
import { AuditLog, type KeptHead } from "../../audit/log.ts";
import type { AuditOptions } from "../../audit/options.ts";
import { type NoteKey, type NoteSigner, parsePublicKey } from "../../audit/proof/note.ts";
import type { AuditVerification } from "../../audit/proof/result.ts";
import { type AuditRecorder, auditRecorder, type StoreAct } from "../../audit/record.ts";
import { badOption, checkKeys, checkObject, checkOneOf } from "../../check-options.ts";
import { HoldfastError } from "../../errors.ts";
import { checkId } from "../../ids.ts";
import { type Act, checkAct } from "../../journal/act.ts";
import { onDemand } from "../../on-demand.ts";
import type { Ports } from "../../ports.ts";
import type { Store } from "../../store/contract.ts";
import type { Documents } from "../../store/documents.ts";
import type { AuditPage, AuditQuery } from "./acts.ts";
import type { AuditExportOptions } from "./export-log.ts";
import { AuditLoop } from "./loop.ts";

const proofs = onDemand(() => import("./proofs.ts"));

const EVERY_MS = 60_000;
const EVENTS = 1_000;
/** A head or an anchor is late when it is this many times older than it should be. */
const LATE = 3;

export interface AuditVerifyOptions {
  /** Files of signed heads that were kept outside the store: their name and their text. */
  readonly anchors?: readonly { readonly name: string; readonly text: string }[];
  /** The public keys that you trust. Default: that of the engine, or else the first that the log announces. */
  readonly keys?: readonly string[];
  /** `heads` (default): the log and the journals. `full`: also the values in them. `none`: only the log. */
  readonly journals?: "none" | "heads" | "full";
}

/** The newest signed head. */
export interface AuditHead {
  readonly origin: string;
  readonly size: number;
  readonly at: number;
  /** The signed note. */
  readonly note: string;
}

/** The result of `audit.anchor`. */
export interface AuditAnchored {
  readonly head: AuditHead;
  readonly anchors: readonly AnchorState[];
}

/** The state of the audit log, for alerts and the dashboard. */
export interface AuditHealth {
  /**
   * `off`: nothing was ever signed, and nothing signs here. `late`: something is unsigned, or isn't anchored, for longer
   * than it should be. `broken`: the log or what it has signed was changed.
   */
  readonly state: "off" | "ok" | "late" | "broken";
  readonly head: AuditHead | null;
  /** Leaves that no head covers yet. */
  readonly unsigned: number;
  readonly anchors: readonly (AnchorState & { readonly isLate: boolean })[];
  /** The last verification on this store: when, and what it found first. */
  readonly verified: VerifiedOnce | null;
  /** In a sentence; `null`: nothing is wrong. */
  readonly problem: string | null;
}

interface VerifiedOnce {
  readonly at: number;
  readonly ok: boolean;
  readonly problems: number;
  readonly first: string | null;
  readonly signed: number;
  readonly anchored: number;
}

/** A proof that a run's position is part of a signed head. */
export interface RunProof {
  readonly leaf: string;
  readonly index: number;
  /** Base64, from the leaf to the root. */
  readonly path: readonly string[];
  readonly head: AuditHead;
}

const VERIFIED = "audit.verified";

/**
 * The audit log of a store: what people did to it, and signed heads over that and over the journals of all runs.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { auditKey, newAuditKey } from "holdfast/security";
 * import { createMemoryStore } from "holdfast/stores/memory";
 *
 * const { privateKey, publicKey } = newAuditKey("example.com/audit");
 * const engine = createEngine({ store: createMemoryStore(), audit: { key: auditKey(privateKey) } });
 * const { head } = await engine.audit.anchor();
 * const { ok, cannotSee } = await engine.audit.verify({
 *   keys: [publicKey],
 *   anchors: [{ name: "my notebook", text: head.note }],
 * });
 * console.log(ok, cannotSee);
 * ```
 */
export class Audit implements AuditRecorder {
  readonly #store: Store;
  readonly #ports: Ports;
  readonly #options: AuditOptions;
  readonly #log: AuditLog;
  readonly #recorder: AuditRecorder;
  readonly #loop: AuditLoop;

  constructor(store: Store, ports: Ports, options: AuditOptions = {}) {
    const newId = () => ports.ids.token();
    this.#store = store;
    this.#ports = ports;
    this.#options = options;
    this.#log = new AuditLog({ store, now: () => store.now(), newId });
    this.#recorder = auditRecorder(this.#log);
    const { everyMs = EVERY_MS, events = EVENTS } = options;
    const { clock, logger } = ports;
    const sign = (isDue: boolean) => this.#sign(isDue);
    this.#loop = new AuditLoop({ clock, logger, everyMs, events, sign, send: (head) => this.#sent(head) });
  }

  /** Records an act in the log; returns its leaf, or `null` in a store that keeps no log. */
  async record(act: StoreAct): Promise<number | null> {
    checkStoreAct(act);
    return this.#recorder.record(act);
  }

  /** True while an act is carried out that was recorded. */
  get isCarrying(): boolean {
    return this.#recorder.isCarrying;
  }

  /** Records an act, then does it: what can't be recorded isn't done. */
  async carry<T>(act: StoreAct, work: () => Promise<T>): Promise<T> {
    checkStoreAct(act);
    return this.#recorder.carry(act, work);
  }

  /** What people and programs did, to runs and to the store, newest first: who, what, when and why. */
  async list(query: AuditQuery = {}): Promise<AuditPage> {
    return (await proofs()).listActs(this.#store, this.#log, query, await this.#store.now());
  }

  /** The newest signed head; `null`: nothing was signed yet. */
  async head(): Promise<AuditHead | null> {
    if (!this.#log.isPossible) return null;
    await this.#log.refresh();
    const head = await this.#log.newestHead();
    return head && this.#shown(head);
  }

  /** Signs what is new and sends the head to every anchor. Throws HF-3207 if one of them doesn't take it. */
  async anchor(): Promise<AuditAnchored> {
    const { signHead } = await proofs();
    const head = await signHead(this.#store, this.#log, this.#signer("audit anchor"));
    const anchors = await this.#send(head);
    const failed = anchors.find(({ error }) => error !== undefined);
    if (failed) throw new HoldfastError("HF-3207", { anchor: failed.name, problem: failed.error ?? "" });
    return { head: this.#shown(head), anchors };
  }

  /** Lets another key sign from now on. The present one signs the announcement, and counts no more after it. */
  async rotate(to: NoteSigner, act: Act = {}): Promise<AuditHead> {
    checkObject("to", to, "an audit key");
    if (!parsePublicKey(String(to.publicKey))) throw badOption("to", "it must be an audit key");
    checkAct(act);
    const from = this.#signer("audit rotate");
    await this.#recorder.record({ ...act, act: "audit_key_rotated", what: to.publicKey });
    const { rotateKey } = await proofs();
    return this.#shown(await rotateKey(this.#store, this.#log, from, to));
  }

  /** Verifies the log, its heads and the journals that they cover. Reports what it finds instead of throwing it. */
  async verify(options: AuditVerifyOptions = {}): Promise<AuditVerification> {
    checkKeys(options, ["anchors", "keys", "journals"]);
    const { anchors = [], keys = this.#ownKeys(), journals = "heads" } = options;
    checkOneOf("journals", journals, ["none", "heads", "full"]);
    if (!Array.isArray(anchors) || !Array.isArray(keys))
      throw badOption("anchors", "anchors and keys must be lists");
    const { parseHeads, verifyLog } = await proofs();
    const found = await verifyLog(this.#store, this.#log, {
      keys: keys.map(readKey),
      anchors: anchors.map(({ name, text }) => ({
        name: String(name),
        heads: parseHeads(String(text)).heads,
      })),
      journals,
    });
    await this.#remember(found);
    return found;
  }

  /** The same with the heads in the store alone; `null` when nothing was ever signed. */
  async check(): Promise<AuditVerification | null> {
    return (await this.head().catch(unlessBroken)) === null ? null : this.verify();
  }

  /** The log and the journals as lines of text, for the offline verifier. That it was exported is recorded first. */
  async *export(options: AuditExportOptions & Act = {}): AsyncGenerator<string, void, undefined> {
    checkKeys(options, ["journals", "actor", "reason"]);
    const { journals = "heads", ...act } = options;
    checkOneOf("journals", journals, ["none", "heads", "full"]);
    checkAct(act);
    await this.#recorder.record({ ...act, act: "audit_exported", detail: { journals } });
    await this.#log.refresh();
    yield* (await proofs()).exportLog(this.#store, this.#log, journals, await this.#store.now());
  }

  /** Proves that the newest signed position of a run is part of the newest head; `null` when it isn't in it yet. */
  async prove(runId: string): Promise<RunProof | null> {
    checkId(runId);
    const head = await this.head();
    if (!head) return null;
    const leaves: string[] = [];
    for await (const batch of this.#log.leaves()) leaves.push(...batch);
    const covered = leaves.slice(0, head.size);
    const named = `"run":${JSON.stringify(runId)}`;
    const index = covered.findLastIndex((text) => text.includes('"act":"run_head"') && text.includes(named));
    if (index < 0) return null;
    const { inclusionProof, leafHash } = await proofs();
    const path = inclusionProof(covered.map(leafHash), index).map((hash) => hash.toString("base64"));
    return { leaf: covered[index] ?? "", index, path, head };
  }

  /** How old the newest head is, how far the anchors are, and what the last verification found. */
  async health(): Promise<AuditHealth> {
    if (!this.#log.isPossible)
      return { state: "off", head: null, unsigned: 0, anchors: [], verified: null, problem: null };
    const documents = this.#documents();
    const [now, head] = [await this.#store.now(), await this.head()];
    const most = LATE * (this.#options.everyMs ?? EVERY_MS);
    const unsigned = this.#log.size - (head?.size ?? 0);
    const anchors = (await (await proofs()).anchorStates(documents)).map((state) => ({
      ...state,
      isLate: head !== null && state.size < head.size && now - Math.max(state.at, head.at) > most,
    }));
    const verified = await this.#lastVerified(documents);
    const isUnsigned = head !== null && now - head.at > most && (unsigned > 0 || (await this.#hasMoved()));
    const late = anchors.find(({ isLate }) => isLate);
    const { problem: failure } = this.#loop;
    const broken = brokenBy(failure, verified);
    const problem =
      broken ??
      (isUnsigned ? `Nothing was signed since ${new Date(head.at).toISOString()}.` : null) ??
      (late
        ? `The anchor ${late.name} doesn't have the newest head: ${late.error ?? "it was not sent"}`
        : null) ??
      failure?.message ??
      null;
    const isOff = head === null && !this.#options.key;
    const state = broken ? "broken" : problem === null ? (isOff ? "off" : "ok") : "late";
    return { state, head, unsigned, anchors, verified, problem };
  }

  /** Signs heads in the background from now on, if there is a key. An engine that advances runs does it by itself. */
  start(): void {
    if (this.#options.key && this.#log.isPossible) this.#loop.start();
  }

  /** @internal */
  heard(events: number): void {
    this.#loop.heard(events);
  }

  /** @internal */
  async stop(isLast: boolean): Promise<void> {
    await this.#loop.stop(isLast);
  }

  /** One head is enough for all processes, unless this one has written many events. */
  async #sign(isDue: boolean): Promise<KeptHead | null> {
    if (!isDue) {
      const { everyMs = EVERY_MS } = this.#options;
      const newest = await this.#log.newestHead();
      if (newest && (await this.#store.now()) - newest.at < everyMs / 2) return null;
    }
    const { signHead } = await proofs();
    return signHead(this.#store, this.#log, this.#signer("audit"));
  }

  async #sent(head: KeptHead): Promise<void> {
    for (const { name, error } of await this.#send(head))
      if (error !== undefined)
        this.#ports.logger.warn("the head of the audit log was not anchored", { anchor: name, error });
  }

  async #send(head: KeptHead): Promise<readonly AnchorState[]> {
    const { sendToAnchors } = await proofs();
    const { anchors = [] } = this.#options;
    const newId = () => this.#ports.ids.token();
    return sendToAnchors(this.#documents(), this.#log, anchors, head, () => this.#store.now(), newId);
  }

  async #hasMoved(): Promise<boolean> {
    const { position } = this.#log;
    if (position === null) return false;
    const page = await this.#store.changes?.({ after: position, limit: 1 });
    return (page?.changes?.length ?? 0) > 0;
  }

  async #remember({ ok, problems, signed, anchored }: AuditVerification): Promise<void> {
    if (!this.#log.isPossible) return;
    const [first] = problems;
    const value: VerifiedOnce = {
      at: await this.#store.now(),
      ok,
      problems: problems.length,
      first: first ? `${first.where}: ${first.problem}`.slice(0, 500) : null,
      signed: signed?.size ?? 0,
      anchored: anchored?.size ?? 0,
    };
    const documents = this.#documents();
    const found = await documents.read(VERIFIED, "last");
    const put = { version: this.#ports.ids.token(), value: JSON.stringify(value) };
    await documents.write([{ kind: VERIFIED, key: "last", expect: found?.version ?? null, put }]);
  }

  async #lastVerified(documents: Documents): Promise<VerifiedOnce | null> {
    const found = await documents.read(VERIFIED, "last");
    return found && (JSON.parse(found.value) as VerifiedOnce);
  }

  #documents(): Documents {
    const { documents, name } = this.#store;
    if (documents) return documents;
    throw new HoldfastError("HF-3206", { store: name });
  }

  #signer(verb: string): NoteSigner {
    if (this.#options.key) return this.#options.key;
    throw new HoldfastError("HF-3203", { verb });
  }

  #ownKeys(): readonly string[] {
    return this.#options.key ? [this.#options.key.publicKey] : [];
  }

  #shown({ size, at, note }: KeptHead): AuditHead {
    return { origin: this.#log.origin, size, at, note };
  }
}

/** A log that can't even be read must be verified all the same. */
function unlessBroken(error: unknown): undefined {
  if (!HoldfastError.is(error, "HF-3204")) throw error;
}

const BROKEN: readonly string[] = ["HF-3204", "HF-3208"];

function brokenBy(failure: AuditLoop["problem"], verified: VerifiedOnce | null): string | null {
  if (failure && BROKEN.includes(failure.code)) return failure.message;
  return verified && !verified.ok ? `The last verification found: ${verified.first}` : null;
}

function readKey(text: unknown): NoteKey {
  const key = typeof text === "string" ? parsePublicKey(text) : undefined;
  if (key) return key;
  throw new HoldfastError("HF-3200", { source: "keys", problem: "a public key has the form name+id+base64" });
}

const ACT = ["act", "actor", "reason", "what", "run", "auth", "detail"];

function checkStoreAct(act: StoreAct): void {
  checkKeys(act, ACT);
  if (typeof act.act !== "string" || !/^[a-z][a-z_]{0,63}$/.test(act.act))
    throw badOption("act", "it must be words in lower case, joined by '_'");
  const { actor, reason } = act;
  checkAct({ ...(actor === undefined ? {} : { actor }), ...(reason === undefined ? {} : { reason }) });
}
