import { List, type LucideIcon, Play, Rocket, Zap } from "lucide-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { actedOf } from "./acts/run-acts.ts";
import { useVerb } from "./acts/use-run-acts.tsx";
import { verbsOf } from "./acts/verbs.ts";
import { useApi } from "./api/use-api.ts";
import { ROUTES } from "./routes.tsx";
import { useSession } from "./session.tsx";
import { TEXT } from "./text.ts";
import { Badge } from "./ui/badge.tsx";
import { useLater } from "./ui/use-later.ts";

const T = TEXT.palette;

/** Something the palette leads to. */
export interface Entry {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly detail?: string;
  readonly icon: LucideIcon;
  readonly badge?: ReactNode;
  readonly act: () => void;
}

const TYPING_MS = 150;
/** The most runs that are shown before and after something is typed. */
const RUNS = { before: 5, after: 8, asked: 40 } as const;

/** The run whose page is open. */
const runOf = (path: string): string | null => /^\/r\/([\w-]{1,64})(?=$|[:@/])/.exec(path)?.[1] ?? null;

/** True when every word is somewhere in the text. */
export const hasWords = (text: string, words: string): boolean =>
  words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));

/** What fits what is typed: acts on the open run first, then pages, then runs. */
export function useEntries(typed: string): readonly Entry[] {
  const [, go] = useLocation();
  const wanted = typed.trim();
  const acts = useActs().filter(({ name }) => hasWords(name, wanted));
  const pages = ROUTES.flatMap(({ path, menu }): Entry[] =>
    menu && hasWords(menu.name, wanted)
      ? [{ id: `page ${path}`, group: T.pages, name: menu.name, icon: menu.icon, act: () => go(path) }]
      : [],
  );
  if (hasWords(TEXT.start.button, wanted))
    pages.push({
      id: "start",
      group: T.pages,
      name: TEXT.start.button,
      icon: Rocket,
      act: () => go("/start"),
    });
  const runs = useRuns(useLater(wanted, TYPING_MS));
  return wanted === "" ? [...acts, ...runs.slice(0, RUNS.before), ...pages] : [...acts, ...pages, ...runs];
}

function useRuns(text: string): readonly Entry[] {
  const [, go] = useLocation();
  const { data } = useApi("listRuns", { ...(text === "" ? {} : { text }), limit: RUNS.asked });
  const isCalled = ({ id, name }: { readonly id: string; readonly name: string | null }): boolean =>
    [id, name ?? ""].some((one) => one.toLowerCase().startsWith(text.toLowerCase()));
  // What begins with the text comes first.
  const found = [...(data?.runs ?? [])].sort((a, b) => Number(isCalled(b)) - Number(isCalled(a)));
  const runs = found.slice(0, RUNS.after).map(
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
  if (text === "") return runs;
  const address = `/runs?${new URLSearchParams({ q: text })}`;
  return [...runs, { id: "all", group: T.runs, name: T.searchAll(text), icon: List, act: () => go(address) }];
}

/** What can be done to the run whose page is open. */
function useActs(): readonly Entry[] {
  const [path] = useLocation();
  const run = runOf(path);
  const { may } = useSession();
  const open = useVerb();
  const { data } = useApi("getRun", { run: run ?? "" }, { enabled: run !== null });
  if (run === null || !data || data.run.id !== run) return [];
  const acted = actedOf(data);
  return verbsOf(acted, may).map(({ verb, name }) => ({
    id: `act ${verb}`,
    group: T.acts(run),
    name,
    icon: Zap,
    act: () => open(verb, acted),
  }));
}
