import {
  Activity,
  CalendarClock,
  CircleDollarSign,
  Database,
  DoorOpen,
  Hand,
  Layers,
  List,
  type LucideIcon,
  ScrollText,
  Server,
  Settings,
  TriangleAlert,
} from "lucide-react";
import type { ComponentType } from "react";
import { TEXT } from "./text.ts";
import { later } from "./ui/later.tsx";

/** An entry of the menu, with the key that leads there after `g`. */
interface Entry {
  readonly name: string;
  readonly icon: LucideIcon;
  readonly key: string;
}

export interface Route {
  readonly path: string;
  readonly page: ComponentType & { readonly load: () => Promise<void> };
  readonly menu?: Entry;
}

const MENU = {
  needsYou: { name: TEXT.nav.needsYou, icon: Hand, key: "n" },
  runs: { name: TEXT.nav.runs, icon: List, key: "r" },
  gates: { name: TEXT.nav.gates, icon: DoorOpen, key: "g" },
  errors: { name: TEXT.nav.errors, icon: TriangleAlert, key: "e" },
  schedules: { name: TEXT.nav.schedules, icon: CalendarClock, key: "s" },
  queues: { name: TEXT.nav.queues, icon: Layers, key: "q" },
  workers: { name: TEXT.nav.workers, icon: Server, key: "w" },
  cost: { name: TEXT.nav.cost, icon: CircleDollarSign, key: "c" },
  reliability: { name: TEXT.nav.reliability, icon: Activity, key: "l" },
  audit: { name: TEXT.nav.audit, icon: ScrollText, key: "a" },
  store: { name: TEXT.nav.store, icon: Database, key: "d" },
  settings: { name: TEXT.nav.settings, icon: Settings, key: "," },
} as const satisfies Readonly<Record<string, Entry>>;

const page = (load: Parameters<typeof later>[0]): Route["page"] =>
  later(load, <p className="p-6 text-soft">{TEXT.page.loading}</p>);

/** Every page, in the order of the menu. Pages are loaded when somebody opens them. */
export const ROUTES: readonly Route[] = [
  { path: "/", page: page(() => import("./pages/needs-you/needs-you.tsx")), menu: MENU.needsYou },
  { path: "/runs", page: page(() => import("./pages/runs/runs.tsx")), menu: MENU.runs },
  { path: "/gates", page: page(() => import("./pages/gates/gates.tsx")), menu: MENU.gates },
  { path: "/errors", page: page(() => import("./pages/errors/errors.tsx")), menu: MENU.errors },
  { path: "/start", page: page(() => import("./pages/start/start.tsx")) },
  { path: "/diff", page: page(() => import("./pages/compare/compare.tsx")) },
  { path: "/r/*", page: page(() => import("./pages/run/run.tsx")) },
  {
    path: "/schedules",
    page: page(() => import("./pages/schedules/schedules.tsx")),
    menu: MENU.schedules,
  },
  { path: "/queues", page: page(() => import("./pages/queues/queues.tsx")), menu: MENU.queues },
  { path: "/workers", page: page(() => import("./pages/workers/workers.tsx")), menu: MENU.workers },
  { path: "/cost", page: page(() => import("./pages/cost/cost.tsx")), menu: MENU.cost },
  {
    path: "/reliability",
    page: page(() => import("./pages/reliability/reliability.tsx")),
    menu: MENU.reliability,
  },
  { path: "/audit", page: page(() => import("./pages/audit/audit.tsx")), menu: MENU.audit },
  { path: "/store", page: page(() => import("./pages/store/store.tsx")), menu: MENU.store },
  { path: "/settings", page: page(() => import("./pages/settings/settings.tsx")), menu: MENU.settings },
];

/** Loads the code of the page at an address before it is shown. A page that can't be loaded says so when it is. */
export function loadPage(address: string): void {
  const here = ROUTES.find(({ path }) =>
    path.endsWith("*") ? address.startsWith(path.slice(0, -1)) : address === path,
  );
  here?.page.load().catch(() => undefined);
}
