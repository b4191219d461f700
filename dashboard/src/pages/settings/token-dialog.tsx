import { useState } from "react";
import { command } from "../../acts/act.ts";
import { ActDialog } from "../../acts/act-dialog.tsx";
import { client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { Modal } from "../../ui/modal.tsx";
import { ADMIN, type Made, newToken, ROLES, SPAN_NAMES, type TokenForm, wordsOf } from "./token-acts.ts";

const T = TEXT.settings.form;

/** Makes a token: who it is for, what it may do, and for how long. */
export function TokenDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (made: Made) => void;
}) {
  const [form, setForm] = useState<TokenForm>({
    name: "",
    roles: ["viewer"],
    workflows: "",
    expires: "quarter",
  });
  const set = (change: Partial<TokenForm>): void => setForm({ ...form, ...change });
  const act = {
    title: T.title,
    effect: T.effect,
    verb: T.verb,
    reasons: T.reasons,
    permission: ADMIN,
    isReady: form.name.trim() !== "" && form.roles.length > 0,
    cli: () => command(wordsOf(form)),
    perform: async (reason: string) =>
      onMade(await client.createToken({ ...newToken(form, Date.now()), reason })),
  };
  return (
    <ActDialog act={act} onClose={onClose}>
      <TextField
        label={T.name}
        hint={T.nameHint}
        required
        data-first
        value={form.name}
        onChange={(event) => set({ name: event.target.value })}
      />
      <fieldset>
        <legend className="mb-1 font-medium">{T.roles}</legend>
        <div className="grid gap-1.5 sm:grid-cols-2">
          {ROLES.map((role) => (
            <label key={role} className="flex items-start gap-2">
              <input
                type="checkbox"
                className="mt-1"
                checked={form.roles.includes(role)}
                onChange={(event) =>
                  set({
                    roles: ROLES.filter((one) =>
                      one === role ? event.target.checked : form.roles.includes(one),
                    ),
                  })
                }
              />
              <span>
                {role} <span className="block text-[0.87rem] text-soft">{T.roleHints[role]}</span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <TextField
        label={T.workflows}
        hint={T.workflowsHint}
        value={form.workflows}
        onChange={(event) => set({ workflows: event.target.value })}
      />
      <SelectField
        label={T.expires}
        value={form.expires}
        choices={SPAN_NAMES.map((value) => ({ value, name: T.spans[value] }))}
        onChange={(expires) => set({ expires })}
      />
    </ActDialog>
  );
}

/** Shows a token this once. It is nowhere else, also not in the memory of the pages after this is closed. */
export function MadeDialog({ made, onClose }: { readonly made: Made; readonly onClose: () => void }) {
  const M = TEXT.settings.made;
  return (
    <Modal title={M.title} onClose={onClose}>
      <div className="flex flex-col gap-4">
        <p>{M.lead}</p>
        <div className="flex items-center gap-2 rounded-md border border-line bg-sunken py-2 pr-2 pl-3">
          <code data-secret className="min-w-0 flex-1 font-mono text-[0.87rem] break-all">
            {made.token}
          </code>
          <CopyButton text={made.token} label={M.label} />
        </div>
        <div className="flex justify-end">
          <Button look="primary" onClick={onClose}>
            {M.done}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
