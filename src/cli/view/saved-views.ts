import { HoldfastError } from "../../core/errors.ts";
import type { RunSearch } from "../../core/manage/status/find-runs.ts";
import { searchOf } from "../../core/manage/views.ts";
import type { RunStatus } from "../../core/types.ts";
import type { CommandContext } from "../context.ts";
import { usage } from "../globals.ts";

/** The filters of `list` that a view can keep. */
export interface Viewed {
  readonly status: readonly RunStatus[] | undefined;
  readonly workflow: string | undefined;
  readonly name: string | undefined;
  readonly label: readonly string[] | undefined;
  readonly queue: string | undefined;
  readonly text: string | undefined;
  readonly needsMe: boolean;
}

/** The search of a saved view; without a name, a search for everything. */
export async function viewNamed(
  context: CommandContext<unknown>,
  name: string | undefined,
): Promise<RunSearch> {
  if (name === undefined) return {};
  const { views } = await context.engine();
  const view = await views.get(name);
  if (!view) throw new HoldfastError("HF-6015", { what: "view", name });
  return searchOf(view.query);
}

/** Saves filters as a view, written like a query of the API. */
export async function saveView(
  context: CommandContext<unknown>,
  name: string,
  filters: Viewed,
  others: Readonly<Record<string, unknown>>,
): Promise<void> {
  const [lost] = Object.entries(others).filter(([, value]) => value !== undefined && value !== false);
  if (lost)
    throw usage(
      `--${lost[0]} can't be part of a view`,
      "A view keeps status, workflow, name, label, queue, text and needs-me.",
      `holdfast list --status failed --save-view ${name}`,
    );
  const { status = [], label = [], needsMe, workflow, name: called, queue, text } = filters;
  const query = new URLSearchParams();
  for (const one of status) query.append("status", one);
  for (const one of label) query.append("label", one);
  for (const [key, value] of Object.entries({ workflow, name: called, queue, text }))
    if (value !== undefined) query.append(key, value);
  if (needsMe) query.append("needsYou", "true");
  const { views } = await context.engine();
  await views.save(name, String(query), { actor: await context.actor() });
}
