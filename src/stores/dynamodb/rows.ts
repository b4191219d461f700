import { HoldfastError } from "../../core/errors.ts";
import { projectionOf } from "../../core/journal/row-copy.ts";
import { readableRow } from "../../core/journal/row-shape.ts";
import { claimAfter, UNCLAIMED } from "../../core/store/claim.ts";
import type { Append, ClaimChange, Entry } from "../../core/store/contract.ts";
import { identityOf } from "../../core/tags.ts";
import type { Claim, RunRow } from "../../core/types.ts";
import { Expression } from "./expression.ts";
import { ageKey, ROW, rowKey, runKey, shardsOf, toItem, wakeKey } from "./keys.ts";
import type { Item, Value, Write } from "./service.ts";

/**
 * A run is stored as two JSON texts, its fixed and its changing part, beside the few attributes that conditions and
 * indexes use. So every number and every unusual character survives the round trip.
 */
export function toRow(item: Item): RunRow {
  const text = (name: string): string => item[name]?.S ?? "";
  const number = (name: string): number => Number(item[name]?.N);
  const claim: Claim = {
    epoch: number("epoch"),
    owner: item["owner"]?.S ?? null,
    token: item["token"]?.S ?? null,
    until: number("until"),
  };
  const run = { ...JSON.parse(text("identity")), ...JSON.parse(text("projection")) };
  return readableRow({ id: run.id }, () => ({ ...run, claim, seq: number("seq"), head: text("head") }));
}

/** The operation committed with the row that isn't finished yet. */
export const redoOf = (item: Item): string | undefined => item["redo"]?.S;

const ERASURE = "erase#";

/** The operation that deletes a run's other items and, at last, its row. */
export const erasureNamed = (name: string): string => `${ERASURE}${name}`;

/** True when the run is gone, and only its items remain to be deleted. */
export const isErased = (item: Item): boolean => redoOf(item)?.startsWith(ERASURE) ?? false;

/** Neither the row nor the indexes are split. A row is small unless its run waits for thousands of things. */
const MOST_ROW_BYTES = 350_000;

/** The precision of a claim's end in the index of due runs, so that most renewals don't rewrite the index. */
const BUSY_STEP_MS = 10_000;

const whole = (n: number): Value => ({ N: String(n) });

/** A time until which the claim is surely live. Never later than its end, so that no due run is missed. */
const busyUntil = (until: number): Value => whole(Math.floor(until / BUSY_STEP_MS) * BUSY_STEP_MS);

/** The attributes that every append sets. `undefined` removes the attribute. */
function projected(
  { run, entries, head }: Append,
  redo: string | undefined,
): Record<string, Value | undefined> {
  const { id } = run;
  const last = entries.at(-1) as Entry;
  const text = JSON.stringify(projectionOf(run as RunRow));
  const bytes = Buffer.byteLength(text);
  if (bytes > MOST_ROW_BYTES)
    throw new HoldfastError("HF-2002", { step: `the row of run ${id}`, bytes, limit: MOST_ROW_BYTES });
  return {
    projection: { S: text },
    seq: whole(last.seq + last.count - 1),
    head: { S: head },
    statusShard: { S: shardsOf(id).ofStatus(run.status, run.prunedAt !== null) },
    wake: run.wakeAt === null ? undefined : { S: wakeKey(run.wakeAt, id, run.priority) },
    redo: redo === undefined ? undefined : { S: redo },
  };
}

const present = (attributes: Record<string, Value | undefined>): Item =>
  Object.fromEntries(
    Object.entries(attributes).filter((pair): pair is [string, Value] => pair[1] !== undefined),
  );

/** The write that creates the run, unless its id is taken. */
export function rowCreated(TableName: string, append: Append, now: number, redo?: string): Write {
  const { id, workflow, createdAt } = append.run;
  const { epoch, owner, token, until } = claimAfter(UNCLAIMED, append.claim, now);
  const shards = shardsOf(id);
  const Item = present({
    ...toItem(rowKey(id)),
    identity: { S: JSON.stringify(identityOf(append.run)) },
    shard: { S: shards.all },
    workflowShard: { S: shards.ofWorkflow(workflow) },
    age: { S: ageKey({ createdAt, id }) },
    ...projected(append, redo),
    epoch: whole(epoch),
    owner: owner === null ? undefined : { S: owner },
    token: token === null ? undefined : { S: token },
    until: whole(until),
    busy: busyUntil(until),
  });
  const ConditionExpression = "attribute_not_exists(pk)";
  return { Put: { TableName, Item, ConditionExpression, ReturnValuesOnConditionCheckFailure: "ALL_OLD" } };
}

/** The write that advances the run, if every expectation holds and no operation is unfinished. */
export function rowChanged(TableName: string, append: Append, now: number, redo?: string): Write {
  const { run, expect, claim } = append;
  const expression = new Expression();
  for (const [name, value] of Object.entries(projected(append, redo))) expression.set(name, value);
  changeClaim(expression, claim, now);
  const needs = expected(expression, expect);
  if (claim.kind === "acquire") needs.push(expression.compare("until", "<=", whole(now)));
  return updated(TableName, run.id, expression, needs);
}

/** The write that makes the run disappear for every reader and from every index, if every expectation holds. */
export function rowErased(TableName: string, { run, expect }: Append, redo: string): Write {
  const expression = new Expression();
  expression.set("redo", { S: redo });
  for (const name of ["shard", "workflowShard", "statusShard", "age", "wake", "busy", "token", "owner"])
    expression.set(name, undefined);
  return updated(TableName, run.id, expression, expected(expression, expect));
}

function expected(expression: Expression, expect: Append["expect"]): string[] {
  const { seq, epoch, token } = expect ?? { seq: 0, epoch: 0, token: null };
  const needs = [
    expression.compare("seq", "=", whole(seq)),
    `attribute_not_exists(${expression.name("redo")})`,
  ];
  if (token !== null)
    needs.push(
      expression.compare("token", "=", { S: token }),
      expression.compare("epoch", "=", whole(epoch)),
    );
  return needs;
}

const updated = (TableName: string, id: string, expression: Expression, needs: readonly string[]): Write => ({
  Update: {
    TableName,
    Key: toItem(rowKey(id)),
    UpdateExpression: expression.update,
    ConditionExpression: needs.join(" AND "),
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    ...expression.attributes,
  },
});

/**
 * The caller makes sure that only the claim's holder uses `hold`, and that a release has an epoch at least as high as
 * the claim's.
 */
function changeClaim(expression: Expression, change: ClaimChange, now: number): void {
  if (change.kind === "keep") return;
  if (change.kind === "acquire" || change.kind === "revoke") expression.add("epoch", 1);
  if (change.kind === "release" && change.epoch !== undefined) expression.set("epoch", whole(change.epoch));
  if (change.kind !== "hold") {
    expression.set("owner", change.kind === "acquire" ? { S: change.owner } : undefined);
    expression.set("token", change.kind === "acquire" ? { S: change.token } : undefined);
  }
  setUntil(expression, "ttlMs" in change ? now + change.ttlMs : 0);
}

export function setUntil(expression: Expression, until: number): void {
  expression.set("until", whole(until));
  expression.set("busy", busyUntil(until));
}

/** The condition that the operation is still unfinished. */
export function whileRedo(TableName: string, id: string, redo: string): Write {
  const expression = new Expression();
  const ConditionExpression = expression.compare("redo", "=", { S: redo });
  return {
    ConditionCheck: {
      TableName,
      Key: { pk: { S: runKey(id) }, sk: { S: ROW } },
      ConditionExpression,
      ...expression.attributes,
    },
  };
}
