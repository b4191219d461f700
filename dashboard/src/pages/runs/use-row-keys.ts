import { type RefObject, useState } from "react";
import { useLocation } from "wouter";
import type { BulkAct } from "../../bulk/bulk.ts";
import { useKeys } from "../../keys.tsx";
import { TEXT } from "../../text.ts";

const T = TEXT.runs.keys;

/** Moves through a list of runs by keys. Returns the run that the keys are on. */
export function useRowKeys({
  ids,
  search,
  onSelect,
  onAct,
}: {
  readonly ids: () => readonly string[];
  readonly search: RefObject<HTMLInputElement | null>;
  readonly onSelect: (id: string, isRange: boolean) => void;
  readonly onAct: (act: BulkAct, current?: string) => void;
}): string | null {
  const [current, setCurrent] = useState<string | null>(null);
  const [, go] = useLocation();
  const move = (by: number): void => {
    const all = ids();
    const at = current === null ? -1 : all.indexOf(current);
    const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
    if (next !== undefined) setCurrent(next);
  };
  const onCurrent = (act: (id: string) => void) => () => {
    if (current !== null) act(current);
  };
  useKeys([
    { keys: "j", name: T.down, act: () => move(1) },
    { keys: "k", name: T.up, act: () => move(-1) },
    { keys: "Enter", name: T.open, act: onCurrent((id) => go(`/r/${id}`)) },
    { keys: "x", name: T.select, act: onCurrent((id) => onSelect(id, false)) },
    { keys: "p", name: T.pause, act: () => onAct("pause", current ?? undefined) },
    { keys: "r", name: T.resume, act: () => onAct("resume", current ?? undefined) },
    { keys: "/", name: T.search, act: () => search.current?.focus() },
  ]);
  return current;
}
