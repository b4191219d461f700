import { digest } from "../../core/hash.ts";
import type { Append, ClaimChange, Entry, Expected } from "../../core/store/contract.ts";
import { MANY, ONE } from "./functions.ts";
import type { Opened } from "./migrations.ts";
import { IDENTIFYING, type Identifying, identifying, PROJECTED, projected, TYPES } from "./rows.ts";
import { CLOCK, FLUSH, type NamedStatement } from "./statement.ts";
import { numbers, Texts } from "./texts.ts";

/** True for an append that the functions take: it adds one entry and drops nothing. Most do. */
export function isPlain({ run, expect, claim, entries, drop, records = [] }: Append): boolean {
  if (entries.length !== 1 || claim.kind === "erase" || drop || records.length > 0) return false;
  // Half a character would be replaced on its way.
  return expect !== null || [run.id, run.workflow, run.name, run.queue, run.key].every(isWhole);
}

const isWhole = (text: string | null): boolean =>
  text === null || !/[\ud800-\udfff]/.test(text) || text === Buffer.from(text).toString();

export const placeholders = (count: number): string =>
  Array.from({ length: count }, (_, i) => `$${i + 1}`).join(", ");

/** A text that is the same for every append, and its name. */
export interface Call {
  readonly text: string;
  readonly name: string;
}

export interface Calls {
  readonly step: Call;
  readonly one: Call;
  readonly many: Call;
}

export const callsOf = (at: string): Calls => ({
  step: named(stepText(at)),
  one: named(`SELECT 1 WHERE ${at}append_one(${placeholders(ONE.length)})`),
  many: named(`SELECT place, reason, found_row FROM ${at}append_many(${placeholders(MANY.length)})`),
});

/**
 * What a run's own worker appends step by step: nothing but counts has changed, and the claim is held. As a statement of
 * its own it takes the server half as long as a function, which executes two. It is judged as `append_one` judges.
 */
const stepText = (at: string): string => `WITH taken AS (
  UPDATE ${at}runs AS run SET projection = $7, seq = $8, head = $9, claim_until = ${CLOCK} + $6::double precision
  WHERE run.id = $3 AND run.seq = $4 AND run.token = $5 AND run.epoch = $10
    AND EXISTS (SELECT FROM ${at}meta AS meta WHERE meta.key = 'incarnation' AND meta.value = $2 AND meta.tableoid = $1::oid)
  RETURNING run.n
)
INSERT INTO ${at}journal (run, seq, count, head, data)
SELECT taken.n, $11::bigint, $12::integer, $13::text, $14::text FROM taken RETURNING ${FLUSH}`;

/** Returns a row when the append was accepted; `null` for an append that isn't of this kind. */
export function stepCall(
  { step }: Calls,
  { table, incarnation }: Opened,
  append: Append,
): NamedStatement | null {
  const { run, expect, claim, entries, blobs, countsOnly } = append;
  if (!countsOnly || claim.kind !== "hold" || blobs.length > 0 || (expect?.token ?? null) === null)
    return null;
  const { seq, token, epoch } = expect as Expected;
  const { projection, seq: reached, head: last } = projected(append);
  const { seq: first, count, head, data } = entries[0] as Entry;
  const row = [claim.ttlMs, projection, reached, last, epoch];
  return { ...step, values: [table, incarnation, run.id, seq, token, ...row, first, count, head, data] };
}

/** Equal names mean equal texts, whoever else prepares statements on the same connection. */
const named = (text: string): Call => ({ text, name: `holdfast_${digest(text).slice(0, 40)}` });

/** Returns a row when the append was accepted; `null` for an append that isn't of this kind. */
export function oneCall(
  { one }: Calls,
  { table, incarnation }: Opened,
  append: Append,
): NamedStatement | null {
  const { run, expect, claim, entries, blobs } = append;
  if (expect === null || blobs.length > 0) return null;
  const { seq, count, head, data } = entries[0] as Entry;
  const { status, wake_at, pruned_at, projection, seq: reached, head: last } = projected(append);
  const position = [run.id, expect.seq, expect.epoch, expect.token];
  const row = [status, wake_at, pruned_at, projection, reached, last];
  const values = [table, incarnation, ...position, ...claimOf(claim), ...row, seq, count, head, data];
  return { ...one, values };
}

type ClaimValues = readonly [
  kind: string,
  owner: string | null,
  token: string | null,
  ttl: number | null,
  least: number | null,
];

function claimOf(claim: ClaimChange): ClaimValues {
  const { kind } = claim;
  if (kind === "acquire") return [kind, claim.owner, claim.token, claim.ttlMs, null];
  if (kind === "hold") return [kind, null, null, claim.ttlMs, null];
  return [kind, null, null, null, kind === "release" ? (claim.epoch ?? null) : null];
}

/** Returns a row for each append that was refused; a row with the place 0 when the store is another one. */
export function manyCall(
  { many }: Calls,
  { table, incarnation }: Opened,
  appends: readonly Append[],
): NamedStatement {
  const claims = appends.map(({ claim }) => claimOf(claim));
  const rows = appends.map(projected);
  const entries = appends.map((append) => append.entries[0] as Entry);
  const blobs = appends.flatMap((append, i) => append.blobs.map((blob) => ({ place: i + 1, ...blob })));
  const values = [
    table,
    incarnation,
    new Texts(appends.map(({ run }) => run.id)),
    numbers(appends.map(({ expect }) => expect?.seq)),
    numbers(appends.map(({ expect }) => expect?.epoch)),
    new Texts(appends.map(({ expect }) => expect?.token ?? null)),
    new Texts(claims.map(([kind]) => kind)),
    new Texts(claims.map(([, owner]) => owner)),
    new Texts(claims.map(([, , token]) => token)),
    numbers(claims.map(([, , , ttl]) => ttl)),
    numbers(claims.map(([, , , , least]) => least)),
    ...PROJECTED.map((name) =>
      column(
        TYPES[name],
        rows.map((row) => row[name]),
      ),
    ),
    numbers(entries.map(({ seq }) => seq)),
    numbers(entries.map(({ count }) => count)),
    new Texts(entries.map(({ head }) => head)),
    new Texts(entries.map(({ data }) => data)),
    ...created(appends),
    numbers(blobs.map(({ place }) => place)),
    new Texts(blobs.map(({ hash }) => hash)),
    new Texts(blobs.map(({ data }) => data)),
  ];
  return { ...many, values };
}

/** The columns of creations; empty arrays when there are none, which read as nulls. */
function created(appends: readonly Append[]): unknown[] {
  const rows: readonly (Identifying | null)[] = appends.some(({ expect }) => expect === null)
    ? appends.map((append) => (append.expect === null ? identifying(append) : null))
    : [];
  return IDENTIFYING.filter((name) => name !== "id").map((name) =>
    column(
      TYPES[name],
      rows.map((row) => row?.[name] ?? null),
    ),
  );
}

type Cell = string | number | object | null;

const column = (type: string, cells: readonly Cell[]): string | Texts =>
  type === "text" || type === "jsonb"
    ? new Texts(
        cells.map((cell) =>
          typeof cell === "object" && cell !== null ? JSON.stringify(cell) : (cell as string | null),
        ),
      )
    : numbers(cells as readonly (number | null)[]);
