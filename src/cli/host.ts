/** An output stream. */
export interface Sink {
  /** `control`: sequences for the terminal to obey first. Only cursor movements of this program belong there. */
  write(text: string, control?: string): void;
  readonly isTTY: boolean;
  /** True when nobody reads it any more, as with `holdfast logs <run> | head -1`. What is written then goes nowhere. */
  readonly isGone: boolean;
  readonly columns: number;
  /** Calls back when the terminal changes its size; returns a function that ends it. */
  onResize(listener: () => void): () => void;
}

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Code of the user's ends the process: nothing catches what it threw, or it called `process.exit`. */
export type SuddenEnd = { readonly error: unknown } | { readonly exit: number };

/** Everything the command line needs from its process. Tests replace it. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** True when a person can be asked. */
  readonly canAsk: boolean;
  /** One line from the person; `undefined` when they have gone. */
  ask(question: string): Promise<string | undefined>;
  /** Reads all of standard input. */
  readInput(): Promise<string>;
  onSignal(listener: (signal: StopSignal) => void): () => void;
  /** The listener returns the exit code. It must not wait for anything. Returns a function that ends it. */
  onSuddenEnd(listener: (end: SuddenEnd) => number): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
  /** Starts `holdfast` with these arguments in a process that outlives this one; returns its process id. */
  detach(args: readonly string[], log: string): number | undefined;
}
