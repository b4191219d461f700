/**
 * A leaf of the audit log: one line of canonical JSON (RFC 8785: keys in order, no spaces), hashed exactly as it is
 * stored. `act` says what it is:
 *
 * - `log_opened`: the first leaf. `log` is the log's random name, and with it the origin of every head.
 * - `key_announced`: a key that signs heads from here on. `proof` is a note that the key before it has signed.
 * - `run_head`: where a run's journal was when heads were collected: its last position and the hash of its last entry.
 * - everything else: something that somebody did, or was refused, that no run's journal holds.
 */
export interface Leaf {
  readonly v: 1;
  readonly index: number;
  /** Epoch milliseconds, by the store's clock. */
  readonly at: number;
  readonly act: string;
  readonly log?: string;
  readonly key?: string;
  readonly proof?: string;
  readonly run?: string;
  /** When the run was created: another run that gets the same id later is another run. */
  readonly created?: number;
  readonly seq?: number;
  readonly head?: string;
  readonly actor?: string;
  /** How the actor was known, such as `token 4x8…`. */
  readonly auth?: string;
  readonly reason?: string;
  /** What was done it to, such as `schedule nightly`. */
  readonly what?: string;
  readonly detail?: Readonly<Record<string, string | number | boolean>>;
  /** The leaf of the act that this one is about: it has failed. */
  readonly of?: number;
}

/** JSON with its keys in order (RFC 8785), for values that JSON has. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).filter(([, one]) => one !== undefined);
  pairs.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${pairs.map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one)}`).join(",")}}`;
}

export const leafText = (leaf: Leaf): string => canonicalJson(leaf);

/** Reads a leaf; `undefined` when it isn't one. */
export function parseLeaf(text: string): Leaf | undefined {
  try {
    const leaf = JSON.parse(text) as Leaf | null;
    const isLeaf =
      typeof leaf === "object" &&
      leaf !== null &&
      leaf.v === 1 &&
      Number.isSafeInteger(leaf.index) &&
      Number.isSafeInteger(leaf.at) &&
      typeof leaf.act === "string";
    return isLeaf ? leaf : undefined;
  } catch {
    return undefined;
  }
}

/** The origin of a log's heads. */
export const originOf = (log: string): string => `holdfast/${log}`;

/** What the holder of a key signs to announce the next one. */
export const announcement = (origin: string, key: string): string =>
  `holdfast audit key\n${origin}\n${key}\n`;
