/* oxlint-disable jsx-a11y/prefer-tag-over-role -- the browser has no list that is filled while somebody types */
import { CornerDownLeft, List, type LucideIcon, Play } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useApi } from "./api/use-api.ts";
import { ROUTES } from "./routes.tsx";
import { TEXT } from "./text.ts";
import { Badge } from "./ui/badge.tsx";
import { Modal } from "./ui/modal.tsx";
import { useLater } from "./ui/use-later.ts";

const T = TEXT.palette;

/** Something the palette leads to. */
export interface Entry {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly detail?: string;
  readonly icon: LucideIcon;
  readonly badge?: React.ReactNode;
  readonly act: () => void;
}

/** Ctrl K or ⌘ K, from anywhere, also while somebody types. */
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

const matches = (text: string, wanted: string): boolean =>
  wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));

function useEntries(typed: string): readonly Entry[] {
  const [, go] = useLocation();
  const text = useLater(typed.trim(), 150);
  const { data } = useApi("listRuns", { ...(text === "" ? {} : { text: text.slice(0, 200) }), limit: 8 });
  const pages = ROUTES.flatMap(({ path, menu }): Entry[] =>
    menu && matches(menu.name, typed)
      ? [{ id: `page ${path}`, group: T.pages, name: menu.name, icon: menu.icon, act: () => go(path) }]
      : [],
  );
  const start: Entry[] = matches(TEXT.start.button, typed)
    ? [{ id: "start", group: T.pages, name: TEXT.start.button, icon: Play, act: () => go("/start") }]
    : [];
  const runs = (data?.runs ?? []).map(
    (run): Entry => ({
      id: `run ${run.id}`,
      group: T.runs,
      name: run.name ?? run.id,
      detail: run.name === null ? run.workflow : `${run.workflow} · ${run.id}`,
      icon: Play,
      badge: <Badge tone={run.tone}>{run.word}</Badge>,
      act: () => go(`/r/${run.id}`),
    }),
  );
  const all: Entry[] =
    text === ""
      ? []
      : [
          {
            id: "all",
            group: T.runs,
            name: T.searchAll(text),
            icon: List,
            act: () => go(`/runs?${new URLSearchParams({ q: text })}`),
          },
        ];
  return typed.trim() === ""
    ? [...pages, ...start, ...runs.slice(0, 5)]
    : [...pages, ...start, ...runs, ...all];
}

/** Finds any page, any run, and what can be done to the run that is open. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const entries = useEntries(typed);
  const here = Math.min(at, entries.length - 1);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  });
  const pick = (entry: Entry | undefined): void => {
    if (!entry) return;
    onClose();
    entry.act();
  };
  return (
    <Modal title={T.title} onClose={onClose}>
      <input
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog is opened to type into it
        autoFocus
        type="text"
        role="combobox"
        aria-expanded
        aria-controls={id}
        aria-activedescendant={entries[here] ? `${id}-${here}` : undefined}
        aria-label={T.title}
        placeholder={T.placeholder}
        autoComplete="off"
        spellCheck={false}
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
        className="w-full rounded-md border border-line-strong bg-surface px-3 py-2"
      />
      <div
        ref={list}
        id={id}
        role="listbox"
        aria-label={T.title}
        className="mt-3 max-h-[50dvh] overflow-y-auto"
      >
        {entries.length === 0 ? <p className="px-2 py-3 text-soft">{T.none}</p> : null}
        {entries.map((entry, index) => (
          <Option
            key={entry.id}
            id={`${id}-${index}`}
            entry={entry}
            isFirst={entry.group !== entries[index - 1]?.group}
            isHere={index === here}
            onPick={() => pick(entry)}
          />
        ))}
      </div>
      <p className="mt-2 text-[0.87rem] text-soft">{T.hint}</p>
    </Modal>
  );
}

function Option({
  id,
  entry: { name, detail, group, icon: Icon, badge },
  isFirst,
  isHere,
  onPick,
}: {
  readonly id: string;
  readonly entry: Entry;
  readonly isFirst: boolean;
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
      <span className="ml-auto flex shrink-0 items-center gap-2">
        {badge}
        {isFirst ? <span className="text-[0.82rem] text-faint">{group}</span> : null}
        {isHere ? <CornerDownLeft aria-hidden className="size-3.5 text-faint" /> : null}
      </span>
    </div>
  );
}
