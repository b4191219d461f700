import type { BulkAct } from "../../bulk/bulk.ts";
import { useSession } from "../../session.tsx";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { countText } from "../../ui/numbers.ts";
import { isNothing, type Selection } from "./selection.ts";

const T = TEXT.runs;
const ACTS: readonly BulkAct[] = ["pause", "resume", "cancel"];

/** What can be done to the selected runs, at the foot of the screen. */
export function BulkBar({
  selection,
  total,
  canChooseAll,
  onAct,
  onAll,
  onClear,
}: {
  readonly selection: Selection;
  /** How many match, if that is known. */
  readonly total: number | null;
  readonly canChooseAll: boolean;
  readonly onAct: (act: BulkAct) => void;
  readonly onAll: () => void;
  readonly onClear: () => void;
}) {
  const { may } = useSession();
  if (isNothing(selection)) return null;
  const { isAll, ids } = selection;
  return (
    <div
      role="toolbar"
      aria-label={T.selected(countText(ids.size))}
      className="sticky bottom-3 z-20 mx-auto mt-3 flex w-fit max-w-full flex-wrap items-center gap-2 rounded-xl border border-line-strong/60 bg-raised px-3 py-2 shadow-lg"
    >
      <output className="px-1 font-medium tabular-nums">
        {isAll ? T.allSelected(total === null ? "" : countText(total)) : T.selected(countText(ids.size))}
      </output>
      {canChooseAll && !isAll ? (
        <Button small look="quiet" onClick={onAll}>
          {T.chooseAll}
        </Button>
      ) : null}
      {ACTS.map((act) => (
        <Button
          key={act}
          small
          look={act === "resume" ? "primary" : act === "cancel" ? "danger" : "plain"}
          disabled={!may("runs:act")}
          onClick={() => onAct(act)}
        >
          {T.acts[act]}
        </Button>
      ))}
      <Button small look="quiet" onClick={onClear}>
        {T.clear}
      </Button>
    </div>
  );
}
