import { useId, useState } from "react";
import { command } from "../../acts/act.ts";
import { ActDialog } from "../../acts/act-dialog.tsx";
import { client } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { TEXT } from "../../text.ts";
import { AreaField, Segments, SelectField, Suggestions, TextField } from "../../ui/field.tsx";
import { useLater } from "../../ui/use-later.ts";
import { localZone, zones } from "../../ui/zoned.tsx";
import { parseSpan } from "../spans.ts";
import { useWorkflowNames } from "../workflow-names.ts";
import { MANAGE, type Schedule } from "./schedule-acts.ts";
import {
  changesOf,
  emptyForm,
  formOf,
  KINDS,
  optionsOf,
  readJson,
  type ScheduleForm,
  timingOf,
  wordsOf,
} from "./schedule-form.ts";
import { Ticks } from "./ticks.tsx";

const T = TEXT.schedules.form;
const OVERLAPS = ["skip", "queue", "cancel", "allow"] as const;

export interface ScheduleDialogProps {
  /** The schedule to edit; without it, a new one is made. */
  readonly schedule?: Schedule;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Makes or changes a schedule, and shows its next ticks before anything is saved. */
export function ScheduleDialog({ schedule, onClose, onDone }: ScheduleDialogProps) {
  const [form, setForm] = useState(() => (schedule ? formOf(schedule) : emptyForm(localZone())));
  const set = (change: Partial<ScheduleForm>): void => setForm({ ...form, ...change });
  const { name, workflow } = form;
  const options = optionsOf(form);
  const changes = changesOf(form);
  const act = {
    title: schedule ? T.editing(schedule.name) : T.title,
    effect: schedule ? T.effectEdit : T.effect,
    verb: schedule ? T.verbEdit : T.verb,
    permission: MANAGE,
    reasons: T.reasons,
    isReady: name.trim() !== "" && workflow.trim() !== "" && options !== null,
    cli: (reason: string) =>
      command(
        schedule
          ? ["schedules", "update", schedule.name, ...wordsOf(form)]
          : [
              "schedules",
              "create",
              name.trim() || "<name>",
              workflow.trim() || "<workflow>",
              ...wordsOf(form),
            ],
        reason,
      ),
    perform: async (reason: string) =>
      schedule
        ? client.updateSchedule({
            name: schedule.name,
            version: schedule.version,
            changes: changes ?? {},
            reason,
          })
        : client.createSchedule({
            name: name.trim(),
            workflow: workflow.trim(),
            options: options ?? {},
            reason,
          }),
  };
  return (
    <ActDialog act={act} onClose={onClose} onDone={onDone} wide>
      <div className="grid gap-4 sm:grid-cols-2">
        {schedule ? null : <Who form={form} set={set} />}
        <When form={form} set={set} />
        <SelectField
          label={T.overlap}
          value={form.overlap}
          choices={OVERLAPS.map((value) => ({ value, name: TEXT.schedules.overlap[value] }))}
          onChange={(overlap) => set({ overlap })}
        />
        <TextField
          label={T.queue}
          value={form.queue}
          onChange={(event) => set({ queue: event.target.value })}
        />
        <InputField text={form.input} onChange={(input) => set({ input })} />
      </div>
      <Preview form={form} />
    </ActDialog>
  );
}

interface Part {
  readonly form: ScheduleForm;
  readonly set: (change: Partial<ScheduleForm>) => void;
}

function Who({ form, set }: Part) {
  const known = useId();
  const workflows = useWorkflowNames();
  return (
    <>
      <TextField
        label={T.name}
        required
        data-first
        value={form.name}
        onChange={(event) => set({ name: event.target.value })}
      />
      <div>
        <TextField
          label={T.workflow}
          required
          list={known}
          value={form.workflow}
          onChange={(event) => set({ workflow: event.target.value })}
        />
        <Suggestions id={known} names={workflows} />
      </div>
    </>
  );
}

function When({ form, set }: Part) {
  const known = useId();
  return (
    <fieldset className="flex flex-col gap-3 sm:col-span-2">
      <legend className="mb-1 font-medium">{T.kind}</legend>
      <Segments
        label={T.kind}
        value={form.kind}
        choices={KINDS.map((value) => ({ value, name: T.kinds[value] }))}
        onChange={(kind) => set({ kind })}
      />
      {form.kind === "cron" ? (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={T.cron}
            hint={T.cronHint}
            required
            value={form.cron}
            onChange={(event) => set({ cron: event.target.value })}
          />
          <TextField
            label={T.zone}
            list={known}
            value={form.zone}
            onChange={(event) => set({ zone: event.target.value })}
          />
          <Suggestions id={known} names={zones()} />
        </div>
      ) : null}
      {form.kind === "every" ? (
        <TextField
          label={T.every}
          hint={T.everyHint}
          problem={parseSpan(form.every) === null ? T.badSpan : undefined}
          value={form.every}
          onChange={(event) => set({ every: event.target.value })}
        />
      ) : null}
      {form.kind === "at" ? (
        <TextField
          label={T.at}
          type="datetime-local"
          required
          value={form.at}
          onChange={(event) => set({ at: event.target.value })}
        />
      ) : null}
    </fieldset>
  );
}

function InputField({
  text,
  onChange,
}: {
  readonly text: string;
  readonly onChange: (text: string) => void;
}) {
  const read = readJson(text);
  return (
    <AreaField
      label={T.input}
      hint={T.inputHint}
      problem={"problem" in read ? read.problem : undefined}
      className="sm:col-span-2"
      rows={3}
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** The next five ticks of what was typed, as the engine sees it. */
function Preview({ form }: { readonly form: ScheduleForm }) {
  const options = useLater(JSON.stringify(timingOf(form)));
  const timing = JSON.parse(options) as ReturnType<typeof timingOf>;
  const { data, error } = useApi(
    "previewSchedule",
    { options: timing ?? {}, count: 5 },
    { enabled: timing !== null },
  );
  return (
    <section aria-label={T.preview} aria-live="polite">
      <h3 className="mb-1 font-medium">{T.preview}</h3>
      {error ? <p className="text-bad">{error.problem?.what ?? error.message}</p> : null}
      {data && !error && timing ? (
        data.next.length === 0 ? (
          <p className="text-waits">{T.never}</p>
        ) : (
          <Ticks ticks={data.next} zone={form.kind === "cron" ? form.zone : undefined} />
        )
      ) : null}
    </section>
  );
}
