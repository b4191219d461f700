import { defined } from "../../../core/defined.ts";
/** One thing that was looked at. */
export interface Check {
  readonly name: string;
  readonly state: "ok" | "warn" | "bad";
  readonly text: string;
  /** What to do about it: a command without the leading `holdfast`, or a sentence. */
  readonly fix?: { readonly command: string } | { readonly advice: string };
  /** What `--fix` would do: only what changes no run and calls no code. */
  readonly repair?: { readonly text: string; run(): void };
}

export const ok = (name: string, text: string): Check => ({ name, state: "ok", text });

export const warn = (name: string, text: string, fix?: Check["fix"]): Check => ({
  name,
  state: "warn",
  text,
  ...defined({ fix }),
});

export const bad = (name: string, text: string, fix?: Check["fix"]): Check => ({
  name,
  state: "bad",
  text,
  ...defined({ fix }),
});
