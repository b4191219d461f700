import type { State } from "../acts/fork/edits.ts";
import type { AnswerOf } from "../api/client.ts";
import { TEXT } from "../text.ts";

type StatePreview = AnswerOf<"previewState">;
type Preview = StatePreview["input"];

export interface PreviewedState {
  /** The values that came whole. */
  readonly state: State;
  /** The names of those that didn't. */
  readonly cut: readonly string[];
  /** All of them to look at; one that was cut is the text of its beginning. */
  readonly shown: Readonly<Record<string, unknown>>;
}

const PARTS = ["config", "memory", "loops", "steps"] as const;

/** A state whose values were cut where they are long: large values don't hurt the page. */
export function previewed(preview: StatePreview): PreviewedState {
  const cut: string[] = [];
  const state: Record<string, unknown> = {};
  const shown: Record<string, unknown> = {};
  const put = (
    name: string,
    value: Preview,
    of: Record<string, unknown>,
    all: Record<string, unknown>,
    key: string,
  ) => {
    if (value.isWhole) of[key] = all[key] = JSON.parse(value.text) as unknown;
    else {
      cut.push(name);
      all[key] = `${value.text} ${TEXT.json.cut(value.length - value.text.length)}`;
    }
  };
  put("input", preview.input, state, shown, "input");
  for (const part of PARTS) {
    const [whole, all]: Record<string, unknown>[] = [{}, {}];
    for (const [name, value] of Object.entries(preview[part]))
      put(`${part}.${name}`, value, whole ?? {}, all ?? {}, name);
    state[part] = whole;
    shown[part] = all;
  }
  if (preview.result) put("result", preview.result, {}, shown, "result");
  const { input, config, memory, loops, steps } = state;
  return { state: { input, config, memory, loops, steps }, cut, shown };
}
