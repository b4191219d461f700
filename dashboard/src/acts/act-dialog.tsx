import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useId, useState } from "react";
import { ApiError } from "../api/client.ts";
import { useSession } from "../session.tsx";
import { TEXT } from "../text.ts";
import { Button } from "../ui/button.tsx";
import { CommandLine } from "../ui/copy.tsx";
import { Modal } from "../ui/modal.tsx";
import { ProblemView } from "../ui/problem.tsx";
import type { Act } from "./act.ts";
import { Meanwhile } from "./meanwhile.tsx";

/** A reason shorter than this tells nobody anything a year from now. */
const SHORTEST_REASON = 10;

export interface ActDialogProps {
  readonly act: Act;
  readonly onClose: () => void;
  readonly onDone?: (answer: unknown) => void;
  readonly wide?: boolean;
  /** A form or a plan, between what happens and the reason. */
  readonly children?: ReactNode;
}

/** The one dialog for all acts: what happens, why, who is recorded, and the same as a command. */
export function ActDialog({ act, onClose, onDone, wide = false, children }: ActDialogProps) {
  const [reason, setReason] = useState("");
  const { actor, may } = useSession();
  const id = useId();
  const perform = useMutation({
    mutationFn: () => act.perform(reason.trim()),
    onSuccess: (answer) => {
      onDone?.(answer);
      onClose();
    },
  });
  const isAllowed = may(act.permission);
  const isReady = reason.trim().length >= SHORTEST_REASON && act.isReady !== false && isAllowed;
  const isStale = perform.error instanceof ApiError && [409, 412].includes(perform.error.status);
  return (
    <Modal title={act.title} onClose={onClose} wide={wide}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !perform.isPending) perform.mutate();
        }}
      >
        <p>{act.effect}</p>
        {children}
        <div>
          <label htmlFor={id} className="mb-1 block font-medium">
            {TEXT.dialog.reason}
          </label>
          <textarea
            id={id}
            rows={2}
            required
            value={reason}
            aria-describedby={`${id}-hint`}
            onChange={(event) => setReason(event.target.value)}
            className="w-full rounded-md border border-line-strong bg-surface px-3 py-2"
          />
          <p id={`${id}-hint`} className="text-[0.87rem] text-soft">
            {TEXT.dialog.reasonHint}
          </p>
          {act.reasons ? (
            <ul className="mt-2 flex flex-wrap gap-1.5" aria-label={TEXT.dialog.templates}>
              {act.reasons.map((one) => (
                <li key={one}>
                  <Button small onClick={() => setReason(one)}>
                    {one}
                  </Button>
                </li>
              ))}
            </ul>
          ) : null}
        </div>
        <div>
          <p className="mb-1 text-[0.87rem] text-soft">{TEXT.dialog.cli}</p>
          <CommandLine command={act.cli(reason.trim())} />
        </div>
        {perform.isError ? <ProblemView error={perform.error} /> : null}
        {isStale && act.about ? <Meanwhile {...act.about} /> : null}
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="text-[0.87rem] text-soft">
            {isAllowed ? TEXT.dialog.recorded(actor) : TEXT.dialog.may(act.permission)}
          </p>
          <div className="flex gap-2">
            <Button onClick={onClose}>{TEXT.dialog.cancel}</Button>
            <Button
              type="submit"
              look={act.isDangerous ? "danger" : "primary"}
              disabled={!isReady || perform.isPending}
            >
              {act.verb}
            </Button>
          </div>
        </div>
      </form>
    </Modal>
  );
}
