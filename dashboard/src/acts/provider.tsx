import { createContext, Fragment, type ReactNode, useContext, useMemo, useState } from "react";
import type { Act } from "./act.ts";
import { ActDialog } from "./act-dialog.tsx";

type Open = (act: Act, onDone?: (answer: unknown) => void) => void;
type Dialog = (close: () => void) => ReactNode;

const Acts = createContext<Open>(() => undefined);
const Dialogs = createContext<(dialog: Dialog) => void>(() => undefined);

/** Opens the dialog for an act, from any place. */
export const useAct = (): Open => useContext(Acts);

/** Opens a dialog of one's own, from any place; it stays open while the page below it changes. */
export const useDialog = (): ((dialog: Dialog) => void) => useContext(Dialogs);

export function ActProvider({ children }: { readonly children: ReactNode }) {
  const [open, setOpen] = useState<{ readonly dialog: Dialog; readonly count: number } | null>(null);
  const show = useMemo(
    () => (dialog: Dialog) => setOpen((before) => ({ dialog, count: (before?.count ?? 0) + 1 })),
    [],
  );
  const act = useMemo<Open>(
    () => (one, onDone) =>
      show((close) => <ActDialog act={one} {...(onDone ? { onDone } : {})} onClose={close} />),
    [show],
  );
  return (
    <Dialogs value={show}>
      <Acts value={act}>
        {children}
        {open ? (
          <Fragment key={open.count}>
            {open.dialog(() => setOpen((now) => (now === open ? null : now)))}
          </Fragment>
        ) : null}
      </Acts>
    </Dialogs>
  );
}
