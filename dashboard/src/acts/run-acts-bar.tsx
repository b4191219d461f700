import {
  Archive,
  Ban,
  CircleCheckBig,
  CircleDollarSign,
  CirclePause,
  FileDown,
  GitFork,
  LoaderCircle,
  type LucideIcon,
  MailPlus,
  MessageSquarePlus,
  Pin,
  PinOff,
  Play,
  RotateCw,
  Scale,
  Trash2,
  Undo2,
} from "lucide-react";
import { useKeys } from "../keys.tsx";
import { TEXT } from "../text.ts";
import { Button } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";
import type { ActedRun } from "./run-acts.ts";
import { type RunVerb, useRunActs } from "./use-run-acts.tsx";
import { isMain, type Verb } from "./verbs.ts";

const ICONS: Readonly<Record<Verb, LucideIcon>> = {
  answer: CircleCheckBig,
  resolve: Scale,
  budget: CircleDollarSign,
  migrate: Archive,
  resume: Play,
  signal: MailPlus,
  retry: RotateCw,
  pause: CirclePause,
  fork: GitFork,
  cancel: Ban,
  undo: Undo2,
  inject: MessageSquarePlus,
  pin: Pin,
  unpin: PinOff,
  export: FileDown,
  delete: Trash2,
};

export interface RunActsProps {
  readonly run: ActedRun;
  /** So many buttons; the rest is behind the dots. On narrow screens only the first is a button. Default 3. */
  readonly most?: number;
  readonly small?: boolean;
  /** Binds p, r and f; for the page of one run. */
  readonly keys?: boolean;
}

/** The acts that fit a run now, the main one first. */
export function RunActs({ run, most = 3, small = false, keys = false }: RunActsProps) {
  const verbs = useRunActs(run);
  useKeys(
    keys
      ? verbs.flatMap(({ key, name, open }) => (key === undefined ? [] : [{ keys: key, name, act: open }]))
      : [],
  );
  const shown = verbs.slice(0, most);
  return (
    <div className="flex flex-wrap items-center justify-end gap-2">
      <Pausing run={run} />
      {shown.map((verb, index) => (
        <ActButton
          key={verb.verb}
          verb={verb}
          small={small}
          isFirst={index === 0}
          isMain={index === 0 && isMain(verb) && run.control !== "pausing"}
        />
      ))}
      {verbs.length > 1 ? (
        <Menu
          label={TEXT.acts.more(run.id)}
          small={small}
          className={verbs.length > most ? "" : "sm:hidden"}
          entries={verbs.slice(1).map(({ verb, name, isDangerous = false, open }, index) => {
            const Icon = ICONS[verb];
            return {
              id: verb,
              name,
              icon: <Icon aria-hidden className="size-4 shrink-0" />,
              isDangerous,
              className: index + 1 < most ? "sm:hidden" : "",
              act: open,
            };
          })}
        />
      ) : null}
    </div>
  );
}

function ActButton({
  verb,
  small,
  isFirst,
  isMain: isWanted,
}: {
  readonly verb: RunVerb;
  readonly small: boolean;
  readonly isFirst: boolean;
  readonly isMain: boolean;
}) {
  const Icon = ICONS[verb.verb];
  return (
    <Button
      small={small}
      look={isWanted ? "primary" : "plain"}
      onClick={verb.open}
      className={isFirst ? "" : "max-sm:hidden"}
      {...(verb.key === undefined ? {} : { "aria-keyshortcuts": verb.key })}
    >
      <Icon aria-hidden className="size-4" />
      {verb.name}
    </Button>
  );
}

/** Says what a pause still waits for, until it holds. The sentence is the server's. */
function Pausing({ run }: { readonly run: ActedRun }) {
  const isPausing = run.control === "pausing";
  return (
    <output className={isPausing ? "inline-flex min-w-0 items-center gap-1.5 text-waits" : "sr-only"}>
      {isPausing ? (
        <>
          <LoaderCircle aria-hidden className="size-4 shrink-0 animate-spin motion-reduce:animate-none" />
          <span className="min-w-0 break-words">{pausingText(run.headline)}</span>
        </>
      ) : null}
    </output>
  );
}

/** `pausing: finishing pay` as a person reads it: never as if it held already. */
export const pausingText = (headline: string): string =>
  `${TEXT.acts.pausing}${headline.replace(/^pausing:?/, "").replace(/^(?=\S)/, " ")}`;
