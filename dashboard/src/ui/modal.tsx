import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { TEXT } from "../text.ts";

export interface ModalProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly wide?: boolean;
  readonly children: ReactNode;
  /** Stays in sight below what scrolls. */
  readonly foot?: ReactNode;
}

/**
 * A dialog of the browser itself: it keeps the focus, hides the rest from readers, and closes on Escape. What is marked
 * with `data-first` gets the focus, except on touch screens.
 */
export function Modal({ title, onClose, wide = false, children, foot }: ModalProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (!dialog || dialog.open) return;
    dialog.showModal();
    // The keyboard of a touch screen would cover what is to be read first.
    if (!matchMedia("(pointer: coarse)").matches) dialog.querySelector<HTMLElement>("[data-first]")?.focus();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      className={`max-h-[94dvh] w-[min(96vw,var(--wide))] flex-col overflow-hidden rounded-xl border border-line bg-raised p-0 shadow-2xl open:flex ${wide ? "[--wide:60rem]" : "[--wide:38rem]"}`}
    >
      <div className="flex shrink-0 items-start justify-between gap-3 border-b border-line px-5 py-3">
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
      <div className="min-h-0 flex-1 overflow-y-auto p-5">{children}</div>
      {foot === undefined ? null : (
        <div className="shrink-0 border-t border-line bg-surface px-5 py-3">{foot}</div>
      )}
    </dialog>
  );
}
