import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import type { Act } from "./act.ts";
import { ActDialog } from "./act-dialog.tsx";

type Open = (act: Act, onDone?: (answer: unknown) => void) => void;

const Context = createContext<Open>(() => undefined);

/** Opens the dialog for an act, from any place. */
export const useAct = (): Open => useContext(Context);

export function ActProvider({ children }: { readonly children: ReactNode }) {
  const [open, setOpen] = useState<{ readonly act: Act; readonly onDone?: (answer: unknown) => void } | null>(
    null,
  );
  const show = useMemo<Open>(() => (act, onDone) => setOpen({ act, ...(onDone ? { onDone } : {}) }), []);
  return (
    <Context value={show}>
      {children}
      {open ? <ActDialog {...open} onClose={() => setOpen(null)} /> : null}
    </Context>
  );
}
