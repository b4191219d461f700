import { useMutation, useQueryClient } from "@tanstack/react-query";
import { BookmarkPlus, X } from "lucide-react";
import { useState } from "react";
import { client } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { useSession } from "../../session.tsx";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { Modal } from "../../ui/modal.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { viewQuery, viewText } from "./view-query.ts";

const T = TEXT.runs;

/** Saved filters. They are in the store, so everybody has them. */
export function Views({ text, onText }: { readonly text: string; readonly onText: (text: string) => void }) {
  const { may } = useSession();
  const { data } = useApi("listViews", {});
  const [isSaving, setSaving] = useState(false);
  const [leaving, setLeaving] = useState<string | null>(null);
  const views = data?.views ?? [];
  const saved = viewQuery(text);
  const isSaved = saved === "" || views.some(({ query }) => query === saved);
  const maySave = may("runs:act");
  if (views.length === 0 && (isSaved || !maySave)) return null;
  return (
    <fieldset aria-label={T.views} className="-mx-1 flex items-center gap-1 overflow-x-auto px-1 pb-1">
      <Tab isOn={text === ""} onClick={() => onText("")}>
        {T.everything}
      </Tab>
      {views.map(({ name, query, by }) => (
        <span key={name} className="inline-flex items-center">
          <Tab
            isOn={query === saved}
            onClick={() => onText(viewText(query))}
            title={`${viewText(query)} · ${by}`}
          >
            {name}
          </Tab>
          {query === saved && maySave ? (
            <button
              type="button"
              aria-label={T.forget(name)}
              title={T.forget(name)}
              onClick={() => setLeaving(name)}
              className="-ml-1 rounded p-1 text-faint hover:bg-sunken hover:text-ink"
            >
              <X aria-hidden className="size-3.5" />
            </button>
          ) : null}
        </span>
      ))}
      {isSaved || !maySave ? null : (
        <Button small look="quiet" className="shrink-0" onClick={() => setSaving(true)}>
          <BookmarkPlus aria-hidden className="size-4" />
          {T.save}
        </Button>
      )}
      {isSaving ? <SaveView query={saved} onClose={() => setSaving(false)} /> : null}
      {leaving === null ? null : <DropView name={leaving} onClose={() => setLeaving(null)} />}
    </fieldset>
  );
}

function Tab({ isOn, ...rest }: { readonly isOn: boolean } & React.ComponentProps<"button">) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      {...rest}
      className={`border-b-2 px-2 py-1 whitespace-nowrap ${isOn ? "border-accent font-medium" : "border-transparent text-soft hover:text-ink"}`}
    />
  );
}

function useViewChange(change: () => Promise<unknown>, onDone: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["listViews"] });
      onDone();
    },
  });
}

function SaveView({ query, onClose }: { readonly query: string; readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const save = useViewChange(() => client.putView({ name: name.trim(), query }), onClose);
  return (
    <Modal title={T.saveTitle} onClose={onClose}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "") save.mutate();
        }}
      >
        <p className="text-soft">{T.saveLead}</p>
        <p className="rounded-md bg-sunken px-3 py-2 font-mono text-[0.87rem] break-words">
          {viewText(query)}
        </p>
        <label className="flex flex-col gap-1 font-medium">
          {T.saveName}
          <input
            required
            maxLength={64}
            value={name}
            onChange={(event) => setName(event.target.value)}
            className="rounded-md border border-line-strong bg-surface px-3 py-2 font-normal"
          />
        </label>
        {save.isError ? <ProblemView error={save.error} /> : null}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{TEXT.dialog.cancel}</Button>
          <Button type="submit" look="primary" disabled={name.trim() === "" || save.isPending}>
            {T.save}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function DropView({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const drop = useViewChange(() => client.deleteView({ name }), onClose);
  return (
    <Modal title={T.forgetTitle} onClose={onClose}>
      <div className="flex flex-col gap-4">
        <p>{T.forgetLead(name)}</p>
        {drop.isError ? <ProblemView error={drop.error} /> : null}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{TEXT.dialog.cancel}</Button>
          <Button look="danger" disabled={drop.isPending} onClick={() => drop.mutate()}>
            {T.forgetAct}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
