import type { ReactNode } from "react";
import { useKeys } from "../../keys.tsx";
import { TEXT } from "../../text.ts";
import { later } from "../../ui/later.tsx";
import { Modal } from "../../ui/modal.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { useMedia } from "../../ui/use-media.ts";
import { VIEWS, type View } from "./address.ts";
import { OutlineView } from "./outline/outline-view.tsx";
import { pathTo } from "./outline/rows.ts";
import type { Node } from "./outline/tree.ts";
import type { OutlineUse } from "./outline/use-outline.ts";
import { Tabs } from "./tabs.tsx";
import { useChildren } from "./use-children.ts";
import type { PlaceUse } from "./use-place.ts";

export interface ViewsProps {
  readonly use: OutlineUse;
  readonly place: PlaceUse;
}

const loading = <p className="p-4 text-soft">{TEXT.page.loading}</p>;
const GraphView = later(() => import("./graph/graph-view.tsx"), loading);
const TimelineView = later(() => import("./timeline/timeline-view.tsx"), loading);
const Inspector = later(() => import("./inspector/inspector.tsx"), loading);

/** `g` begins the keys that lead to other pages. */
const KEYS: Readonly<Record<View, string>> = { outline: "o", graph: "G", timeline: "t" };

/** The steps in three views, and the inspector beside them. */
export function Views(props: ViewsProps) {
  const { use, place } = props;
  const { view, go } = place;
  useKeys(
    VIEWS.map((one) => ({
      keys: KEYS[one],
      name: TEXT.run.views[one],
      act: () => go({ view: one }),
    })),
  );
  const isNarrow = useMedia("(width < 64rem)");
  const shown: readonly View[] = isNarrow ? VIEWS.filter((one) => one !== "graph") : VIEWS;
  const current = shown.includes(view) ? view : "outline";
  const node = place.step === null ? undefined : pathTo(use.tree, place.step).at(-1);
  const isOpen = place.step !== null;
  return (
    <div
      className={`mt-4 grid items-start gap-4 ${isOpen ? "lg:grid-cols-[minmax(0,1fr)_minmax(22rem,27rem)]" : ""}`}
    >
      <div className="min-w-0 rounded-lg border border-line bg-surface">
        <Tabs
          label={TEXT.run.views.label}
          tabs={shown.map((one) => ({ id: one, name: TEXT.run.views[one] }))}
          current={current}
          onChange={(next) => go({ view: next })}
          end={<Steps use={use} />}
        >
          {use.error && !use.outline ? (
            <ProblemView error={use.error} />
          ) : (
            <Current {...props} view={current} />
          )}
        </Tabs>
      </div>
      {isOpen ? <Side {...props} node={node} isNarrow={isNarrow} /> : null}
    </div>
  );
}

function Steps({ use: { outline, isWhole } }: { readonly use: OutlineUse }) {
  if (!outline) return null;
  return (
    <span className="text-[0.87rem] text-soft tabular-nums">
      {isWhole
        ? TEXT.run.outline.steps(outline.total)
        : TEXT.run.outline.loading(outline.steps.length, outline.total)}
    </span>
  );
}

function Current({ use, place, view }: ViewsProps & { readonly view: View }): ReactNode {
  const progress = useChildren(use.outline);
  if (!use.outline) return <p className="p-4 text-soft">{TEXT.page.loading}</p>;
  if (use.tree.length === 0) return <p className="p-4 text-soft">{TEXT.run.outline.empty}</p>;
  const select = (step: string): void => place.go({ step, attempt: null });
  if (view === "outline")
    return (
      <OutlineView
        tree={use.tree}
        selected={place.step}
        onSelect={select}
        onOpen={select}
        progress={progress}
      />
    );
  if (view === "timeline")
    return (
      <TimelineView
        run={place.run}
        outline={use.outline}
        tree={use.tree}
        selected={place.step}
        onSelect={(step, attempt) => place.go({ step, attempt })}
      />
    );
  return <GraphView tree={use.tree} selected={place.step} onSelect={select} />;
}

/** The inspector: at the side, or over the page where there is no side. */
function Side({
  use,
  place,
  node,
  isNarrow,
}: ViewsProps & { readonly node: Node | undefined; readonly isNarrow: boolean }) {
  const { step, go, run, attempt } = place;
  const close = (): void => go({ step: null, attempt: null });
  if (!node)
    return (
      <p className="px-4 py-6 break-words text-soft">
        {use.isWhole ? TEXT.inspector.unknown(step ?? "") : TEXT.page.loading}
      </p>
    );
  const inspector = (
    <Inspector
      run={run}
      node={node}
      attempt={attempt}
      onAttempt={(next) => go({ attempt: next })}
      onSelect={(key) => go({ step: key, attempt: null })}
      {...(isNarrow ? {} : { onClose: close })}
    />
  );
  if (isNarrow)
    return (
      <Modal title={TEXT.inspector.label} onClose={close}>
        <div className="-m-5">{inspector}</div>
      </Modal>
    );
  return (
    <div className="self-start rounded-lg border border-line bg-surface lg:sticky lg:top-4 lg:max-h-[calc(100dvh-2rem)] lg:overflow-y-auto">
      {inspector}
    </div>
  );
}
