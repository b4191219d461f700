import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Play } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { useLocation } from "wouter";
import { command } from "../../acts/act.ts";
import { client } from "../../api/client.ts";
import { refresh } from "../../api/use-refresh.ts";
import { useKeys } from "../../keys.tsx";
import { useSession } from "../../session.tsx";
import { TEXT } from "../../text.ts";
import { AllowedButton } from "../../ui/allowed.tsx";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { AreaField, Suggestions, TextField } from "../../ui/field.tsx";
import { Modal } from "../../ui/modal.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { useWorkflowNames } from "../workflow-names.ts";
import { EMPTY, readStart, type StartForm, wordsOf } from "./start-form.ts";

const T = TEXT.start;
const ACT = "runs:act";

/** The button that opens the dialog; `n` does the same. */
export function StartRun() {
  const [isOpen, setOpen] = useState(false);
  const { may } = useSession();
  useKeys(may(ACT) ? [{ keys: "n", name: T.button, act: () => setOpen(true) }] : []);
  return (
    <>
      <AllowedButton permission={ACT} look="primary" onClick={() => setOpen(true)}>
        <Play aria-hidden className="size-4" />
        {T.button}
      </AllowedButton>
      {isOpen ? <StartRunDialog onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** Starts a run, and goes to its page. */
export function StartRunDialog({ onClose }: { readonly onClose: () => void }) {
  const [form, setForm] = useState(EMPTY);
  const [, go] = useLocation();
  const queries = useQueryClient();
  const { actor, may } = useSession();
  const read = readStart(form);
  const start = useMutation({
    mutationFn: async () => ("args" in read ? client.startRun(read.args) : null),
    onSuccess: (run) => {
      if (!run) return;
      refresh(queries, ["listRuns", "countRuns"]);
      onClose();
      go(`/r/${run.id}`);
    },
  });
  const isReady = "args" in read && form.workflow.trim() !== "" && may(ACT) && !start.isPending;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isReady) start.mutate();
  };
  return (
    <Modal title={T.title} onClose={onClose} wide>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <Fields form={form} onChange={setForm} />
        <div>
          <p className="mb-1 text-[0.87rem] text-soft">{TEXT.dialog.cli}</p>
          <CommandLine command={command(wordsOf(form))} />
        </div>
        {start.isError ? <ProblemView error={start.error} /> : null}
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="text-[0.87rem] text-soft">{may(ACT) ? T.recorded(actor) : TEXT.dialog.may(ACT)}</p>
          <div className="flex gap-2">
            <Button onClick={onClose}>{TEXT.dialog.cancel}</Button>
            <Button type="submit" look="primary" disabled={!isReady}>
              {T.verb}
            </Button>
          </div>
        </div>
      </form>
    </Modal>
  );
}

interface FieldsProps {
  readonly form: StartForm;
  readonly onChange: (form: StartForm) => void;
}

function Fields({ form, onChange }: FieldsProps) {
  const known = useId();
  const workflows = useWorkflowNames();
  const read = readStart(form);
  const problems = "problems" in read ? read.problems : {};
  const bind = (name: keyof StartForm) => ({
    value: form[name],
    problem: problems[name],
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ ...form, [name]: event.target.value }),
  });
  return (
    <>
      <div>
        <TextField
          label={T.workflow}
          hint={T.workflowHint}
          required
          data-first
          list={known}
          {...bind("workflow")}
        />
        <Suggestions id={known} names={workflows} />
        {workflows.length === 0 ? (
          <div className="mt-2 text-soft">
            <p className="mb-1">{T.noWorkflows}</p>
            <CommandLine command={T.command} />
          </div>
        ) : (
          <ul className="mt-2 flex flex-wrap gap-1.5">
            {workflows.slice(0, 12).map((name) => (
              <li key={name}>
                <Button
                  small
                  aria-pressed={form.workflow === name}
                  onClick={() => onChange({ ...form, workflow: name })}
                >
                  {name}
                </Button>
              </li>
            ))}
          </ul>
        )}
      </div>
      <AreaField label={T.input} hint={T.inputHint} rows={5} {...bind("input")} />
      <details className="rounded-md border border-line px-3 py-2">
        <summary className="font-medium">{T.more}</summary>
        <div className="mt-3 grid gap-4 sm:grid-cols-2">
          <TextField label={T.name} {...bind("name")} />
          <TextField label={T.id} hint={T.idHint} {...bind("id")} />
          <TextField label={T.labels} hint={T.labelsHint} {...bind("labels")} />
          <TextField label={T.queue} {...bind("queue")} />
          <TextField label={T.key} {...bind("key")} />
          <TextField label={T.priority} hint={T.priorityHint} inputMode="numeric" {...bind("priority")} />
          <TextField label={T.startAt} type="datetime-local" {...bind("startAt")} />
        </div>
      </details>
    </>
  );
}
