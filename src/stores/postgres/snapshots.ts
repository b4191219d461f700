/** A snapshot as PostgreSQL writes it: `xmin:xmax:xip,…`. */
export type Snapshot = string;

/** Where reading goes on: after everything in `begin`; with `end`, after `entry` within what is new in `end`. */
export interface Place {
  readonly begin: Snapshot;
  readonly end?: Snapshot;
  readonly entry?: { readonly run: number; readonly seq: number };
}

const write = (value: number): string => value.toString(36);
const read = (text: string): number => Number.parseInt(text, 36);

/** Numbers of transactions are large and close to each other, so they are written as distances from the first. */
function short(snapshot: Snapshot): string {
  const [xmin = "0", xmax = "0", open = ""] = snapshot.split(":");
  const numbers = [xmax, ...(open === "" ? [] : open.split(","))];
  return [Number(xmin), ...numbers.map((one) => Number(one) - Number(xmin))].map(write).join("_");
}

function long(text: string): Snapshot | undefined {
  if (!/^[0-9a-z]{1,10}(?:_[0-9a-z]{1,10}){1,5000}$/.test(text)) return undefined;
  const [xmin = 0, ...distances] = text.split("_").map(read);
  const [xmax = 0, ...open] = distances.map((distance) => xmin + distance);
  const isSound = xmin > 0 && open.every((one, i) => one < xmax && one > (open[i - 1] ?? xmin - 1));
  return isSound ? `${xmin}:${xmax}:${open.join(",")}` : undefined;
}

const xmax = (snapshot: Snapshot): number => Number(snapshot.split(":")[1]);

/** True for a snapshot that shows transactions which haven't begun when the other was taken. */
export const isLater = (one: Snapshot, other: Snapshot): boolean => xmax(one) > xmax(other);

export const snapshotText = (tag: string, snapshot: Snapshot): string => `${tag}.${short(snapshot)}`;

export const placeText = (tag: string, { begin, end, entry }: Required<Place>): string =>
  [tag, short(begin), short(end), write(entry.run), write(entry.seq)].join(".");

/** The snapshot in a position; `undefined` when it belongs to another history, or to none. */
export function snapshotIn(tag: string, position: string): Snapshot | undefined {
  const place = placeIn(tag, position);
  return place?.end === undefined ? place?.begin : undefined;
}

/** The place that a position stands for; `undefined` when it belongs to another history, or to none. */
export function placeIn(tag: string, position: string): Place | undefined {
  const [own, from = "", to, run = "", seq = "", ...rest] = position.split(".");
  const begin = long(from);
  if (own !== tag || !begin || rest.length > 0) return undefined;
  if (to === undefined) return { begin };
  const end = long(to);
  if (!end || ![run, seq].every((text) => /^[0-9a-z]{1,10}$/.test(text))) return undefined;
  return { begin, end, entry: { run: read(run), seq: read(seq) } };
}
