import type { Append, Blob, ClaimChange, Entry } from "../../core/store/contract.ts";
import { isSame, type Opened } from "./migrations.ts";
import { recordsAdded } from "./records.ts";
import { PROJECTED, projected, TYPES } from "./rows.ts";
import { type Bind, CLOCK, FLUSH, type Statement, statement } from "./statement.ts";

/** Appends with more blobs use the statement for batches. */
const MOST_BLOBS = 20;

/**
 * The statement for one append that changes a run and adds one entry, as most do: it plans and runs in a third of the
 * time of the batch statement. It returns one row, or none when the append was refused; then the batch statement finds
 * out why. `null` for any other kind of append.
 */
export function oneStatement(at: string, opened: Opened, append: Append): Statement | null {
  const { run, expect, claim, entries, blobs, drop } = append;
  const [entry] = entries;
  if (expect === null || !entry || entries.length > 1 || drop || blobs.length > MOST_BLOBS) return null;
  const values = projected(append);
  return statement((bind) => {
    const sets = PROJECTED.map((name) => `${name} = ${bind(values[name], TYPES[name])}`);
    const { token, epoch, seq } = expect;
    const needs = [`id = ${bind(run.id, "text")}`, `seq = ${bind(seq, "bigint")}`];
    if (token !== null) needs.push(`token = ${bind(token, "text")}`, `epoch = ${bind(epoch, "bigint")}`);
    if (claim.kind === "acquire") needs.push(`claim_until <= ${CLOCK}`);
    needs.push(isSame(at, opened, bind));
    return `WITH changed AS (
  UPDATE ${at}runs SET ${[...sets, ...claimSets(claim, bind)].join(", ")}
  WHERE ${needs.join(" AND ")} RETURNING n
)${blobsAdded(at, blobs, bind)}${recordParts(at, append, bind)}
INSERT INTO ${at}journal (run, seq, count, head, data)
SELECT n, ${entryValues(entry, bind)} FROM changed RETURNING ${FLUSH}`;
  });
}

function recordParts(at: string, append: Append, bind: Bind): string {
  const parts = append.records ? recordsAdded(at, [append], bind) : [];
  return parts.length === 0 ? "" : `, taken AS (SELECT 0 AS i, n FROM changed), ${parts.join(", ")}`;
}

function claimSets(claim: ClaimChange, bind: Bind): string[] {
  switch (claim.kind) {
    case "keep":
    case "erase":
      return [];
    case "hold":
      return [`claim_until = CASE WHEN token IS NULL THEN claim_until ELSE ${after(claim.ttlMs, bind)} END`];
    case "release":
      if (claim.epoch === undefined) return FREED;
      return [`epoch = greatest(epoch, ${bind(claim.epoch, "bigint")})`, ...FREED];
    case "revoke":
      return ["epoch = epoch + 1", ...FREED];
    case "acquire": {
      const [owner, token] = [bind(claim.owner, "text"), bind(claim.token, "text")];
      const taken = [`owner = ${owner}`, `token = ${token}`, `claim_until = ${after(claim.ttlMs, bind)}`];
      return ["epoch = epoch + 1", ...taken];
    }
  }
}

const FREED = ["owner = NULL", "token = NULL", "claim_until = 0"];

const after = (ms: number, bind: Bind): string => `${CLOCK} + ${bind(ms, "double precision")}`;

const entryValues = ({ seq, count, head, data }: Entry, bind: Bind): string =>
  [bind(seq, "bigint"), bind(count, "integer"), bind(head, "text"), bind(data, "text")].join(", ");

function blobsAdded(at: string, blobs: readonly Blob[], bind: Bind): string {
  if (blobs.length === 0) return "";
  const rows = blobs.map(({ hash, data }) => `(${bind(hash, "text")}, ${bind(data, "text")})`);
  return `, blobs_added AS (
  INSERT INTO ${at}blobs (run, hash, data) SELECT changed.n, blob.hash, blob.data
  FROM changed, (VALUES ${rows.join(", ")}) AS blob (hash, data) ON CONFLICT (run, hash) DO NOTHING
)`;
}
