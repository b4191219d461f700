/* oxlint-disable jsx-a11y/prefer-tag-over-role -- the browser has no list that is filled while somebody types */
import { Search } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { type Entry, useEntries } from "./palette-entries.tsx";
import { TEXT } from "./text.ts";

const T = TEXT.palette;

/** Ctrl K or ⌘ K, from anywhere, also while somebody types. Not over a dialog, whose input would be lost from sight. */
export function usePalette(): {
  readonly isOpen: boolean;
  readonly open: () => void;
  readonly close: () => void;
} {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      setOpen((now) => now || !document.querySelector("dialog[open]"));
    };
    window.addEventListener("keydown", hear);
    return () => window.removeEventListener("keydown", hear);
  }, []);
  return { isOpen, open: () => setOpen(true), close: () => setOpen(false) };
}

/** Finds any page, any run, and what can be done to the run that is open. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const entries = useEntries(typed);
  const here = Math.min(at, entries.length - 1);
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (dialog.current && !dialog.current.open) dialog.current.showModal();
  }, []);
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [here, entries]);
  const pick = (entry: Entry | undefined): void => {
    if (!entry) return;
    onClose();
    entry.act();
  };
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- Escape closes it too
    <dialog
      ref={dialog}
      aria-label={T.title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
      className="mt-[12vh] mb-auto w-[min(94vw,40rem)] overflow-hidden rounded-xl border border-line bg-raised p-0 shadow-2xl"
    >
      <div className="flex items-center gap-2 border-b border-line px-4">
        <Search aria-hidden className="size-4 shrink-0 text-faint" />
        <input
          type="text"
          role="combobox"
          aria-expanded
          aria-controls={id}
          aria-activedescendant={entries[here] ? `${id}-${here}` : undefined}
          aria-label={T.title}
          placeholder={T.placeholder}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
            if (by !== 0) setAt((here + by + entries.length) % Math.max(1, entries.length));
            else if (event.key === "Enter") pick(entries[here]);
            else return;
            event.preventDefault();
          }}
          className="w-full bg-transparent py-3 text-lg outline-none placeholder:text-faint"
        />
        <kbd className="shrink-0 text-[0.82rem] text-faint">Esc</kbd>
      </div>
      <div
        id={id}
        role="listbox"
        tabIndex={-1}
        aria-label={T.title}
        className="max-h-[50dvh] overflow-y-auto p-2 outline-none"
      >
        {entries.length === 0 ? <p className="px-2 py-3 text-soft">{T.none}</p> : null}
        {entries.map((entry, index) => (
          <div key={entry.id} role="presentation">
            {entry.group === entries[index - 1]?.group ? null : (
              <p aria-hidden className="px-2 pt-2 pb-1 text-[0.82rem] font-medium text-faint">
                {entry.group}
              </p>
            )}
            <Option id={`${id}-${index}`} entry={entry} isHere={index === here} onPick={() => pick(entry)} />
          </div>
        ))}
      </div>
    </dialog>
  );
}

function Option({
  id,
  entry: { name, detail, icon: Icon, badge },
  isHere,
  onPick,
}: {
  readonly id: string;
  readonly entry: Entry;
  readonly isHere: boolean;
  readonly onPick: () => void;
}) {
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys are heard in the field above
    <div
      id={id}
      role="option"
      aria-selected={isHere}
      tabIndex={-1}
      onClick={onPick}
      className={`flex cursor-pointer items-center gap-2.5 rounded-md px-2 py-1.5 ${isHere ? "bg-accent-soft" : "hover:bg-sunken"}`}
    >
      <Icon aria-hidden className="size-4 shrink-0 text-faint" />
      <span className="min-w-0 truncate">{name}</span>
      {detail === undefined ? null : <span className="min-w-0 truncate text-soft">{detail}</span>}
      <span className="ml-auto shrink-0">{badge}</span>
    </div>
  );
}
