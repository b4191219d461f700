/** Something a person does to a run, a queue, a schedule or the store. Every page hands these to the same dialog. */
export interface Act {
  readonly title: string;
  /** What happens, in one sentence, before it happens. */
  readonly effect: string;
  /** What the button says. */
  readonly verb: string;
  /** The same on the command line, where there is such a command. */
  readonly cli?: (reason: string) => string;
  readonly permission: string;
  /** Reasons that are often given. */
  readonly reasons?: readonly string[];
  readonly isDangerous?: boolean;
  /** Whether the form in the dialog is filled in. Default: yes. */
  readonly isReady?: boolean;
  readonly perform: (reason: string) => Promise<unknown>;
  /** Looks again at what was shown, after a refusal because the run has moved on. */
  readonly again?: { readonly name: string; readonly act: () => void };
  /** The run it is about, and the position at which it was seen; a refusal then tells what happened since. */
  readonly about?: { readonly run: string; readonly seq: number };
}

/** A word of a command line, quoted if a shell would take it apart. */
export const word = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** A command with its reason. */
export const command = (words: readonly string[], reason = ""): string =>
  ["holdfast", ...words.map(word), ...(reason === "" ? [] : ["--reason", word(reason)])].join(" ");
