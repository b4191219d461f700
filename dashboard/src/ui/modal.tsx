import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { TEXT } from "../text.ts";

export interface ModalProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** A dialog of the browser itself: it keeps the focus, hides the rest from readers, and closes on Escape. */
export function Modal({ title, onClose, wide = false, children }: ModalProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      className={`max-h-[92dvh] w-[min(96vw,var(--wide))] overflow-y-auto rounded-xl border border-line bg-raised p-0 shadow-2xl ${wide ? "[--wide:60rem]" : "[--wide:36rem]"}`}
    >
      <div className="sticky top-0 z-10 flex items-start justify-between gap-3 border-b border-line bg-raised px-5 py-3">
        <h2 id={id} className="text-lg font-semibold break-words">
          {title}
        </h2>
        <button
          type="button"
          aria-label={TEXT.dialog.cancel}
          onClick={onClose}
          className="rounded p-1 text-faint hover:bg-sunken hover:text-ink"
        >
          <X aria-hidden className="size-5" />
        </button>
      </div>
      <div className="p-5">{children}</div>
    </dialog>
  );
}
