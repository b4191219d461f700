import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { type AnswerOf, type ArgsOf, client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { Choice } from "../../ui/choice.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { useLater } from "../../ui/use-later.ts";
import { command } from "../act.ts";
import { ActDialog } from "../act-dialog.tsx";
import { setFlags } from "../resume/changes.ts";
import type { Edits } from "./edits.ts";
import { ForkPreview } from "./fork-preview.tsx";
import { StateEditor } from "./state-editor.tsx";

const { fork: words } = TEXT;

type Effects = NonNullable<ArgsOf<"planFork">["effects"]>;
const EFFECTS: readonly Effects[] = ["reuse", "simulate", "block", "allow"];

export interface ForkDialogProps {
  readonly run: string;
  /** The checkpoint: a position, a label, or a name. Default: the newest. */
  readonly at?: string;
  readonly onClose: () => void;
}

/** Makes a new run from a checkpoint, with other values if somebody edits them. The source stays as it is. */
export default function ForkDialog({ run, at = "last", onClose }: ForkDialogProps) {
  const [, go] = useLocation();
  const [effects, setEffects] = useState<Effects>("reuse");
  const [id, setId] = useState("");
  const [edits, setEdits] = useState<Edits | null>({});
  const settled = useLater(edits, 250);
  const hasEdits = edits !== null && Object.keys(edits).length > 0;
  const fork = { run, at, effects, ...(settled && Object.keys(settled).length > 0 ? { set: settled } : {}) };
  const query = useQuery({
    queryKey: ["fork of a dialog", fork],
    queryFn: ({ signal }) => client.planFork(fork, { signal }),
    enabled: settled !== null,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  const isCurrent = settled === edits && !query.isPlaceholderData && query.isSuccess;
  return (
    <ActDialog
      wide
      onClose={onClose}
      onDone={(made) => go(`/r/${(made as AnswerOf<"forkRun">).id}`)}
      act={{
        title: words.title(`${run}@${query.data?.from.seq ?? at}`),
        effect: words.effect(run),
        verb: words.verb,
        reasons: words.reasons,
        cli: (reason) =>
          command(
            [
              "fork",
              `${run}@${query.data?.from.seq ?? at}`,
              ...(effects === "reuse"
                ? []
                : effects === "simulate"
                  ? ["--dry-effects"]
                  : ["--effects", effects]),
              ...(id === "" ? [] : ["--name", id]),
              ...(hasEdits ? setFlags(edits) : []),
            ],
            reason,
          ),
        permission: "runs:act",
        isDangerous: query.data?.calls.some(({ becomes }) => becomes === "called again") ?? false,
        isReady: edits !== null && isCurrent,
        perform: (reason) => client.forkRun({ ...fork, reason, ...(id === "" ? {} : { id }) }),
      }}
    >
      <fieldset>
        <legend className="mb-1 font-medium">{words.effects}</legend>
        <div className="grid gap-x-4 sm:grid-cols-2">
          {EFFECTS.map((one) => (
            <Choice
              key={one}
              group="effects"
              title={words.names[one]}
              isChosen={effects === one}
              onChoose={() => setEffects(one)}
            >
              {words.means[one]}
            </Choice>
          ))}
        </div>
      </fieldset>
      {query.isError ? <ProblemView error={query.error} /> : null}
      <div aria-live="polite" aria-busy={query.isFetching}>
        {query.data ? <ForkPreview preview={query.data} /> : null}
      </div>
      <StateEditor run={run} at={at} onEdits={setEdits} />
      <label className="flex flex-col gap-1">
        {words.id}
        <input
          value={id}
          onChange={(event) => setId(event.target.value)}
          pattern="[A-Za-z0-9_\-]{1,64}"
          className="max-w-80 rounded-md border border-line-strong bg-surface px-3 py-1.5 font-mono"
        />
      </label>
    </ActDialog>
  );
}
