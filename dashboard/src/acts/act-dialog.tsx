import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { ApiError } from "../api/client.ts";
import { useSession } from "../session.tsx";
import { TEXT } from "../text.ts";
import { Button } from "../ui/button.tsx";
import { CommandLine } from "../ui/copy.tsx";
import { Modal } from "../ui/modal.tsx";
import { ProblemView } from "../ui/problem.tsx";
import type { Act } from "./act.ts";
import { Meanwhile } from "./meanwhile.tsx";
import { ReasonField } from "./reason-field.tsx";

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
  const form = useId();
  const perform = useMutation({
    mutationFn: () => act.perform(reason.trim()),
    onSuccess: (answer) => {
      onDone?.(answer);
      onClose();
    },
  });
  const isAllowed = may(act.permission);
  const isReady = reason.trim().length >= SHORTEST_REASON && act.isReady !== false && isAllowed;
  const foot = (
    <div className="flex flex-col gap-3">
      <ReasonField form={form} value={reason} onChange={setReason} reasons={act.reasons ?? []} />
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-[0.87rem] text-soft">
          {isAllowed ? TEXT.dialog.recorded(actor) : TEXT.dialog.may(act.permission)}
        </p>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{TEXT.dialog.cancel}</Button>
          <Button
            type="submit"
            form={form}
            look={act.isDangerous ? "danger" : "primary"}
            disabled={!isReady || perform.isPending}
          >
            {act.verb}
          </Button>
        </div>
      </div>
    </div>
  );
  return (
    <Modal title={act.title} onClose={onClose} wide={wide} foot={foot}>
      <form
        id={form}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !perform.isPending) perform.mutate();
        }}
      >
        <p>{act.effect}</p>
        {children}
        {act.cli === undefined ? null : (
          <div>
            <p className="mb-1 text-[0.87rem] text-soft">{TEXT.dialog.cli}</p>
            <CommandLine command={act.cli(reason.trim())} />
          </div>
        )}
        {perform.isError ? <Refusal error={perform.error} act={act} onAgain={perform.reset} /> : null}
      </form>
    </Modal>
  );
}

/** Why it was refused and what happened meanwhile, scrolled into sight. */
function Refusal({
  error,
  act,
  onAgain,
}: {
  readonly error: Error;
  readonly act: Act;
  readonly onAgain: () => void;
}) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    ref.current?.scrollIntoView({ block: "end" });
  }, []);
  const isStale = error instanceof ApiError && [404, 409, 412].includes(error.status);
  return (
    <div ref={ref} className="flex flex-col gap-3">
      <ProblemView error={error} />
      {isStale && act.about ? <Meanwhile {...act.about} /> : null}
      {isStale && act.again ? (
        <Button
          className="self-start"
          onClick={() => {
            onAgain();
            act.again?.act();
          }}
        >
          {act.again.name}
        </Button>
      ) : null}
    </div>
  );
}
