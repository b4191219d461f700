import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";

export interface TabsProps<Id extends string> {
  readonly label: string;
  readonly tabs: readonly { readonly id: Id; readonly name: ReactNode }[];
  readonly current: Id;
  readonly onChange: (id: Id) => void;
  /** On the right of the tabs. */
  readonly end?: ReactNode;
  readonly children: ReactNode;
}

/** Tabs whose state is kept by whoever shows them: in the address. */
export function Tabs<Id extends string>({ label, tabs, current, onChange, end, children }: TabsProps<Id>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const hear = (event: KeyboardEvent): void => {
    const at = tabs.findIndex((tab) => tab.id === current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const next = to === undefined ? undefined : tabs[to];
    if (!next) return;
    event.preventDefault();
    onChange(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <>
      <div className="flex items-center justify-between gap-3 border-b border-line pr-3 pl-1">
        <div ref={list} role="tablist" aria-label={label} className="flex overflow-x-auto">
          {tabs.map((tab) => {
            const isHere = tab.id === current;
            return (
              <button
                key={tab.id}
                type="button"
                role="tab"
                id={`${id}-${tab.id}`}
                data-tab={tab.id}
                aria-selected={isHere}
                aria-controls={`${id}-panel`}
                tabIndex={isHere ? 0 : -1}
                onClick={() => onChange(tab.id)}
                onKeyDown={hear}
                className={`-mb-px border-b-2 px-3 py-2 whitespace-nowrap ${isHere ? "border-accent font-medium" : "border-transparent text-soft hover:text-ink"}`}
              >
                {tab.name}
              </button>
            );
          })}
        </div>
        {end}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current}`}>
        {children}
      </div>
    </>
  );
}
