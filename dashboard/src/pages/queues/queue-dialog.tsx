import { useState } from "react";
import { command } from "../../acts/act.ts";
import { ActDialog } from "../../acts/act-dialog.tsx";
import { client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { TextField } from "../../ui/field.tsx";
import { parseSpan, writeSpan } from "../spans.ts";
import { MANAGE, type Queue, queueLimits, type RateLimit, readWhole } from "./queue-acts.ts";

interface DialogProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const written = (number: number | undefined): string => (number === undefined ? "" : String(number));
const MINUTE = 60_000;

/** Defines a queue, or changes its limits. */
export function QueueDialog({ queue, onClose, onDone }: DialogProps & { readonly queue?: Queue }) {
  const T = TEXT.queues.form;
  const [name, setName] = useState(queue?.name ?? "");
  const [form, setForm] = useState(() => ({
    concurrency: written(queue?.concurrency),
    perKey: written(queue?.perKey),
    rate: written(queue?.rate?.calls),
    period: writeSpan(queue?.rate?.periodMs ?? MINUTE),
  }));
  const limits = queueLimits(form);
  const flag = (name: string, text: string): string[] => (text.trim() === "" ? [] : [name, text.trim()]);
  const words = [
    ...flag("--concurrency", form.concurrency),
    ...flag("--per-key", form.perKey),
    ...flag("--rate", form.rate),
    ...(form.rate.trim() === "" ? [] : flag("--period", form.period)),
  ];
  const field = (key: keyof typeof form, label: string) => (
    <TextField
      label={label}
      inputMode={key === "period" ? "text" : "numeric"}
      hint={key === "period" ? TEXT.schedules.form.everyHint : T.none}
      problem={
        key === "period"
          ? parseSpan(form.period) === null
            ? TEXT.schedules.form.badSpan
            : undefined
          : readWhole(form[key]) === null
            ? T.badNumber
            : undefined
      }
      value={form[key]}
      onChange={(event) => setForm({ ...form, [key]: event.target.value })}
    />
  );
  const act = {
    title: queue ? T.editing(queue.name) : T.title,
    effect: T.effect,
    verb: T.verb,
    reasons: T.reasons,
    permission: MANAGE,
    isReady: name.trim() !== "" && limits !== null,
    cli: (reason: string) => command(["queues", "set", name.trim() || "<queue>", ...words], reason),
    perform: (reason: string) => client.setQueue({ name: name.trim(), ...limits, reason }),
  };
  return (
    <ActDialog act={act} onClose={onClose} onDone={onDone}>
      {queue ? null : (
        <TextField
          label={T.name}
          required
          data-first
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      )}
      <div className="grid grid-cols-2 gap-4">
        {field("concurrency", T.concurrency)}
        {field("perKey", T.perKey)}
        {field("rate", T.rate)}
        {field("period", T.period)}
      </div>
    </ActDialog>
  );
}

/** Defines a rate limit, or changes it. */
export function LimitDialog({ limit, onClose, onDone }: DialogProps & { readonly limit?: RateLimit }) {
  const T = TEXT.queues.limits.form;
  const [name, setName] = useState(limit?.name ?? "");
  const [calls, setCalls] = useState(written(limit?.calls));
  const [tokens, setTokens] = useState(written(limit?.tokens));
  const [period, setPeriod] = useState(writeSpan(limit?.periodMs ?? MINUTE));
  const [readCalls, readTokens, periodMs] = [readWhole(calls), readWhole(tokens), parseSpan(period)];
  const isReady =
    name.trim() !== "" &&
    readCalls !== null &&
    readTokens !== null &&
    periodMs !== null &&
    (readCalls ?? readTokens) !== undefined;
  const bad = TEXT.queues.form.badNumber;
  const act = {
    title: limit ? T.editing(limit.name) : T.title,
    effect: T.effect,
    verb: T.verb,
    reasons: T.reasons,
    permission: MANAGE,
    isReady,
    cli: (reason: string) =>
      command(
        [
          "rate-limits",
          "set",
          name.trim() || "<limit>",
          ...(calls.trim() === "" ? [] : ["--calls", calls.trim()]),
          ...(tokens.trim() === "" ? [] : ["--tokens", tokens.trim()]),
          "--period",
          period.trim(),
        ],
        reason,
      ),
    perform: (reason: string) =>
      client.setRateLimit({
        name: name.trim(),
        reason,
        limit: {
          periodMs: periodMs ?? MINUTE,
          ...(typeof readCalls === "number" ? { calls: readCalls } : {}),
          ...(typeof readTokens === "number" ? { tokens: readTokens } : {}),
        },
      }),
  };
  return (
    <ActDialog act={act} onClose={onClose} onDone={onDone}>
      {limit ? null : (
        <TextField
          label={T.name}
          required
          data-first
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      )}
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-3">
        <TextField
          label={T.calls}
          inputMode="numeric"
          problem={readCalls === null ? bad : undefined}
          value={calls}
          onChange={(event) => setCalls(event.target.value)}
        />
        <TextField
          label={T.tokens}
          inputMode="numeric"
          problem={readTokens === null ? bad : undefined}
          value={tokens}
          onChange={(event) => setTokens(event.target.value)}
        />
        <TextField
          label={T.period}
          problem={periodMs === null ? TEXT.schedules.form.badSpan : undefined}
          value={period}
          onChange={(event) => setPeriod(event.target.value)}
        />
      </div>
    </ActDialog>
  );
}
