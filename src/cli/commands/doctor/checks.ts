import { defined } from "../../../core/defined.ts";
/** The result of one check. */
export interface Check {
  readonly name: string;
  readonly state: "ok" | "warn" | "bad";
  readonly text: string;
  /** How to fix it: a command without the leading `holdfast`, or a sentence. */
  readonly fix?: { readonly command: string } | { readonly advice: string };
  /** What `--fix` would do: only repairs that change no run and call no code. */
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
