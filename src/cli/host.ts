/** Where text goes. */
export interface Sink {
  /** `control`: what a terminal is to obey first. Only movements that are written in this program belong there. */
  write(text: string, control?: string): void;
  readonly isTTY: boolean;
  readonly columns: number;
  /** Calls back when the terminal changed its size; answers a function that ends it. */
  onResize(listener: () => void): () => void;
}

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Everything the command line needs of the process it runs in. Tests hand in their own. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Whether somebody can be asked. */
  readonly canAsk: boolean;
  /** One line from whoever sits there; `undefined` when they have gone. */
  ask(question: string): Promise<string | undefined>;
  /** Everything on standard input. */
  readInput(): Promise<string>;
  onSignal(listener: (signal: StopSignal) => void): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
  /** Starts `holdfast` with these arguments in a process that outlives this one; answers its process id. */
  detach(args: readonly string[], log: string): number | undefined;
}
