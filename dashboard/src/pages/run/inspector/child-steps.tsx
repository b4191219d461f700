import { Link } from "wouter";
import { useApi } from "../../../api/use-api.ts";
import { TEXT } from "../../../text.ts";
import { countText } from "../../../ui/numbers.ts";
import { useNow } from "../../../ui/time.tsx";
import { treeOf } from "../outline/tree.ts";
import { lookOf, StateIcon } from "../states.tsx";
import { Part } from "./part.tsx";

/** The most steps that are named; the page of the run has them all. */
const SHOWN = 20;

/** The steps of a run that a step has started: the subtasks of an agent. */
export function ChildSteps({ run }: { readonly run: string }) {
  const now = useNow();
  const { data } = useApi("getOutline", { run, limit: 200 });
  if (!data) return null;
  const nodes = treeOf(data);
  const { subtasks } = TEXT.inspector;
  return (
    <Part title={`${subtasks} ${data.progress.text}`}>
      <ul>
        {nodes.slice(0, SHOWN).map((node) => (
          <li key={node.key}>
            <Link
              href={`/r/${run}?step=${encodeURIComponent(node.key)}`}
              className={`flex items-center gap-2 rounded px-1 py-0.5 hover:bg-sunken ${node.state === "not started" ? "text-faint" : ""}`}
            >
              <StateIcon look={lookOf(node, now)} />
              <span className="truncate">{TEXT.run.outline.name(node.kind, node.name)}</span>
              {node.children.length > 0 ? (
                <span className="text-[0.87rem] text-soft tabular-nums">
                  {TEXT.run.outline.count(
                    node.kind,
                    countText(node.counts.done),
                    countText(node.counts.total),
                  )}
                </span>
              ) : null}
            </Link>
          </li>
        ))}
      </ul>
      <Link href={`/r/${run}`} className="px-1 text-accent underline">
        {TEXT.inspector.openRun}
      </Link>
    </Part>
  );
}
