import { useEffect, useRef } from "react";
import { ROUTES } from "./routes.tsx";
import { TEXT } from "./text.ts";
import { Modal } from "./ui/modal.tsx";

/** What a key does; the name is what the sheet of keys says. */
export interface Key {
  readonly keys: string;
  readonly name: string;
  readonly act: () => void;
}

const bound = new Map<string, Key>();
/** How long the second key of a pair may take. */
const PAIR_MS = 1_200;

/** Binds keys while a page or a part of it is shown. Keys do nothing while somebody types or a dialog is open. */
export function useKeys(keys: readonly Key[]): void {
  useEffect(() => {
    for (const key of keys) bound.set(key.keys, key);
    return () => {
      for (const key of keys) if (bound.get(key.keys) === key) bound.delete(key.keys);
    };
  });
}

/** Hears keys for the whole page; once, in the frame. */
export function useKeyboard(go: (path: string) => void, showSheet: () => void): void {
  const first = useRef({ key: "", at: 0 });
  useKeys([
    { keys: "?", name: TEXT.nav.keys, act: showSheet },
    ...ROUTES.flatMap(({ path, menu }) =>
      menu ? [{ keys: `g ${menu.key}`, name: menu.name, act: () => go(path) }] : [],
    ),
  ]);
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if (isTyping(event)) return;
      const pair = event.timeStamp - first.current.at < PAIR_MS ? `${first.current.key} ${event.key}` : "";
      first.current = { key: event.key, at: event.timeStamp };
      const key = bound.get(pair) ?? bound.get(event.key);
      if (!key) return;
      event.preventDefault();
      first.current = { key: "", at: 0 };
      key.act();
    };
    window.addEventListener("keydown", hear);
    return () => window.removeEventListener("keydown", hear);
  }, []);
}

function isTyping({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || document.querySelector("dialog[open]")) return true;
  // What has the focus answers these itself.
  if (
    (key === "Enter" || key === " ") &&
    target instanceof HTMLElement &&
    target.closest("a, button, summary, input")
  )
    return true;
  if (target instanceof HTMLInputElement && /^(?:range|checkbox|radio|button|submit)$/.test(target.type))
    return /^(?:Arrow|Page|Home|End)/.test(key);
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** The palette hears its keys by itself, also while somebody types. */
const FIND = { keys: "Ctrl K", name: TEXT.palette.title } as const;

const order = (a: Key, b: Key): number => a.keys.localeCompare(b.keys);

/** What the page itself offers comes first, then the pages as the menu has them. */
const rank = ({ keys }: Key): number =>
  keys.startsWith("g ") ? 1 + ROUTES.findIndex(({ menu }) => menu && `g ${menu.key}` === keys) : 0;

/** Every key that does something on this page now. */
export function KeySheet({ onClose }: { readonly onClose: () => void }) {
  const keys = [FIND, ...[...bound.values()].toSorted((a, b) => rank(a) - rank(b) || order(a, b))];
  return (
    <Modal title={TEXT.nav.keys} onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5">
        {keys.map(({ keys: combination, name }) => (
          <div key={combination} className="contents">
            <dt>
              {combination.split(" ").map((key) => (
                <kbd
                  key={key}
                  className="mr-1 rounded border border-line-strong bg-sunken px-1.5 font-mono text-[0.87rem]"
                >
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{name}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
