import { useState } from "react";
import type { Act } from "../acts/act.ts";
import { command } from "../acts/act.ts";
import { ActDialog } from "../acts/act-dialog.tsx";
import { type AnswerOf, client } from "../api/client.ts";
import { TEXT } from "../text.ts";

const { checkpoints: words } = TEXT;

export type CheckpointItem = AnswerOf<"listCheckpoints">["checkpoints"][number];

/** Keeps a checkpoint's values, or lets retention have them again. */
export const pinCheckpointAct = (run: string, { seq, pinned, id }: CheckpointItem): Act => {
  const args = { run, at: String(seq) };
  return {
    ...(pinned ? words.unpinAct(id) : words.pinAct(id)),
    cli: (reason) => command(["checkpoints", pinned ? "unpin" : "pin", id], reason),
    permission: "runs:act",
    perform: (reason) =>
      pinned ? client.unpinCheckpoint({ ...args, reason }) : client.pinCheckpoint({ ...args, reason }),
  };
};

/** Names a checkpoint. */
export function LabelDialog({
  run,
  checkpoint: { id, seq, labels },
  onClose,
}: {
  readonly run: string;
  readonly checkpoint: CheckpointItem;
  readonly onClose: () => void;
}) {
  const [label, setLabel] = useState(labels[0] ?? "");
  return (
    <ActDialog
      onClose={onClose}
      act={{
        ...words.labelAct(id),
        ...(label === ""
          ? {}
          : { cli: (reason: string) => command(["checkpoints", "pin", id, "--label", label], reason) }),
        permission: "runs:act",
        isReady: label !== "" || labels.length > 0,
        perform: (reason) => client.labelCheckpoint({ run, at: String(seq), label, reason }),
      }}
    >
      <label className="flex flex-col gap-1 font-medium">
        {words.labelName}
        <input
          data-first
          value={label}
          maxLength={64}
          onChange={(event) => setLabel(event.target.value)}
          className="max-w-80 rounded-md border border-line-strong bg-surface px-3 py-1.5 font-normal"
        />
      </label>
    </ActDialog>
  );
}
