import { Keyboard, LogOut, Moon, Rows3, Rows4, Search, Sun, SunMoon } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { useLiveState } from "./api/live.ts";
import { useApi } from "./api/use-api.ts";
import { type Preferences, setPreferences, usePreferences } from "./preferences.ts";
import { ROUTES } from "./routes.tsx";
import { useSession } from "./session.tsx";
import { TEXT } from "./text.ts";

/** The frame around every page: menu, connection, who is signed in. */
export function Shell({
  onKeys,
  onFind,
  children,
}: {
  readonly onKeys: () => void;
  readonly onFind: () => void;
  readonly children: ReactNode;
}) {
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[13rem_1fr]">
      <a
        href="#page"
        className="sr-only z-50 rounded bg-accent px-3 py-2 text-accent-ink focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
      >
        {TEXT.nav.skip}
      </a>
      <aside className="flex flex-col border-line bg-surface max-md:border-b md:sticky md:top-0 md:h-dvh md:border-r">
        <div className="flex items-center justify-between gap-2 px-4 pt-3 pb-2">
          <Link href="/" className="text-lg font-semibold tracking-tight">
            {TEXT.product}
          </Link>
          <LiveBadge />
        </div>
        <Find onFind={onFind} />
        <Menu />
        <Footer onKeys={onKeys} />
      </aside>
      <main id="page" tabIndex={-1} className="min-w-0 outline-none">
        {children}
      </main>
    </div>
  );
}

function Menu() {
  const [location] = useLocation();
  const menu = useRef<HTMLElement>(null);
  // On a phone the menu is wider than the screen, and it grows when it tells how many runs need somebody.
  useEffect(() => {
    const list = menu.current?.firstElementChild;
    if (!list) return undefined;
    const observer = new ResizeObserver(() => {
      const here = menu.current?.querySelector("[aria-current]")?.getBoundingClientRect();
      const whole = menu.current?.getBoundingClientRect();
      if (here && whole)
        menu.current?.scrollBy({ left: here.left + here.width / 2 - whole.left - whole.width / 2 });
    });
    observer.observe(list);
    return () => observer.disconnect();
  }, [location]);
  return (
    <nav
      ref={menu}
      aria-label={TEXT.nav.label}
      className="overflow-x-auto px-2 max-md:pb-2 md:flex-1 md:overflow-y-auto"
    >
      <ul className="flex w-max min-w-full gap-0.5 md:w-auto md:flex-col">
        {ROUTES.flatMap(({ path, menu }) => {
          if (!menu) return [];
          const isHere = path === "/" ? location === "/" : location.startsWith(path);
          const Icon = menu.icon;
          return [
            <li key={path}>
              <Link
                href={path}
                aria-current={isHere ? "page" : undefined}
                className={`flex items-center gap-2 rounded-md px-2.5 py-1.5 whitespace-nowrap ${isHere ? "bg-accent-soft font-medium text-ink" : "text-soft hover:bg-sunken hover:text-ink"}`}
              >
                <Icon aria-hidden className="size-4 shrink-0" />
                {menu.name}
                {path === "/" ? <NeedsCount /> : null}
              </Link>
            </li>,
          ];
        })}
      </ul>
    </nav>
  );
}

/** How many runs need a person. */
function NeedsCount() {
  const { data } = useApi("needsYou", { limit: 1 }, { refetchMs: 15_000 });
  if (!data || data.total === 0) return null;
  return (
    <span className="ml-auto rounded-full bg-waits-soft px-1.5 text-[0.82rem] font-medium text-waits tabular-nums">
      {data.total > 999 ? "999+" : data.total}
    </span>
  );
}

/** Opens the palette, for those who don't know its key yet. */
function Find({ onFind }: { readonly onFind: () => void }) {
  return (
    <button
      type="button"
      onClick={onFind}
      aria-keyshortcuts="Control+K Meta+K"
      className="mx-3 mb-2 flex items-center gap-2 rounded-md border border-line bg-ground px-2.5 py-1 text-[0.93rem] text-faint hover:border-line-strong hover:text-ink max-md:hidden"
    >
      <Search aria-hidden className="size-4" />
      {TEXT.nav.search}
      <kbd className="ml-auto font-sans text-[0.82rem]">
        {/mac/i.test(navigator.platform) ? "⌘" : "Ctrl"} K
      </kbd>
    </button>
  );
}

const DOT = { live: "bg-good", connecting: "bg-waits", reconnecting: "bg-bad" } as const;

function LiveBadge() {
  const state = useLiveState();
  return (
    <output className="inline-flex items-center gap-1.5 text-[0.82rem] text-soft">
      <span aria-hidden className={`size-2 rounded-full ${DOT[state]}`} />
      {TEXT.live[state]}
    </output>
  );
}

const NEXT: Readonly<Record<Preferences["theme"], Preferences["theme"]>> = {
  system: "light",
  light: "dark",
  dark: "system",
};
const THEMES = { system: SunMoon, light: Sun, dark: Moon } as const;

function Footer({ onKeys }: { readonly onKeys: () => void }) {
  const { theme, density } = usePreferences();
  const { actor, leave } = useSession();
  const Theme = THEMES[theme];
  const Density = density === "compact" ? Rows4 : Rows3;
  return (
    <div className="flex items-center justify-between gap-1 border-line px-3 py-2 text-[0.87rem] max-md:hidden md:border-t">
      <span className="truncate text-soft" title={actor}>
        {actor}
      </span>
      <span className="flex">
        <Tool label={`${TEXT.nav.theme}: ${theme}`} onClick={() => setPreferences({ theme: NEXT[theme] })}>
          <Theme aria-hidden className="size-4" />
        </Tool>
        <Tool
          label={`${TEXT.nav.density}: ${density}`}
          onClick={() => setPreferences({ density: density === "compact" ? "normal" : "compact" })}
        >
          <Density aria-hidden className="size-4" />
        </Tool>
        <Tool label={TEXT.nav.keys} onClick={onKeys}>
          <Keyboard aria-hidden className="size-4" />
        </Tool>
        <Tool label={TEXT.nav.signOut} onClick={leave}>
          <LogOut aria-hidden className="size-4" />
        </Tool>
      </span>
    </div>
  );
}

function Tool({
  label,
  onClick,
  children,
}: {
  readonly label: string;
  readonly onClick: () => void;
  readonly children: ReactNode;
}) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onClick}
      className="rounded p-1.5 text-faint hover:bg-sunken hover:text-ink"
    >
      {children}
    </button>
  );
}
