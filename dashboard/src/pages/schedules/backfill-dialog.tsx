import { useState } from "react";
import { command } from "../../acts/act.ts";
import { ActDialog } from "../../acts/act-dialog.tsx";
import { client } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { TEXT } from "../../text.ts";
import { TextField } from "../../ui/field.tsx";
import { useLater } from "../../ui/use-later.ts";
import { fromLocalInput, localInput } from "../spans.ts";
import { MANAGE, type Schedule } from "./schedule-acts.ts";

const T = TEXT.schedules.backfill;
const DAY = 86_400_000;

/** Starts the runs of a range of ticks, after it has shown how many those are. */
export function BackfillDialog({
  schedule: { name },
  onClose,
  onDone,
}: {
  readonly schedule: Schedule;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const [from, setFrom] = useState(() => localInput(Date.now() - DAY));
  const [to, setTo] = useState(() => localInput(Date.now()));
  const range = { name, from: fromLocalInput(from) ?? 0, to: fromLocalInput(to) ?? 0 };
  const asked = useLater(JSON.stringify(range));
  const isRange = range.from > 0 && range.to >= range.from;
  const { data, error } = useApi(
    "backfillSchedule",
    { ...(JSON.parse(asked) as typeof range), dryRun: true },
    { enabled: isRange },
  );
  const counted = data && !error && isRange ? data : null;
  const iso = (at: number): string => (at === 0 ? "<time>" : new Date(at).toISOString());
  const act = {
    title: T.title(name),
    effect: T.effect,
    verb: T.verb,
    reasons: T.reasons,
    permission: MANAGE,
    isReady: asked === JSON.stringify(range) && (counted?.started.length ?? 0) > 0,
    cli: (reason: string) =>
      command(["schedules", "backfill", name, "--from", iso(range.from), "--to", iso(range.to)], reason),
    perform: (reason: string) => client.backfillSchedule({ ...range, reason }),
  };
  return (
    <ActDialog act={act} onClose={onClose} onDone={onDone}>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={T.from}
          type="datetime-local"
          required
          value={from}
          onChange={(event) => setFrom(event.target.value)}
        />
        <TextField
          label={T.to}
          type="datetime-local"
          required
          value={to}
          onChange={(event) => setTo(event.target.value)}
        />
      </div>
      <p aria-live="polite" className={error ? "text-bad" : "font-medium"}>
        {error
          ? (error.problem?.what ?? error.message)
          : counted
            ? T.count(counted.started.length, counted.existing.length)
            : ""}
      </p>
    </ActDialog>
  );
}
