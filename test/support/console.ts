import { type ChildProcess, spawn } from "node:child_process";

/** A command of a console session in Markdown, and its documented output. */
export interface Command {
  /** As typed, without the prompt, the exit code and the `&`. */
  readonly line: string;
  readonly exit: number;
  readonly isLeftRunning: boolean;
  readonly shows: readonly string[];
}

/** The commands of every `console` block, in order: `$ command  # exit 75`, and below it some of the lines that it prints. */
export function sessionOf(markdown: string): Command[] {
  const blocks = [...markdown.matchAll(/```console\n([^]*?)```/g)].map(([, block = ""]) => block);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [typed = "", ...shows] = part.trimEnd().split("\n");
        const [, line = "", left, exit = "0"] = /^(.*?)(\s&)?(?:\s+# exit (\d+))?$/.exec(typed) ?? [];
        return { line, exit: Number(exit), isLeftRunning: left !== undefined, shows };
      }),
  );
}

/** Replaces output that varies from run to run. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  [/\b\d+(\.\d+)?(ms|s|m|h)\b( \d+s\b)?/g, "<time>"],
  [/\d\d:\d\d:\d\d UTC/g, "<time>"],
  [/#\d+/g, "#<n>"],
  [/\bkey [\w-]{20,}/g, "key <key>"],
  [/process \d+/g, "process <pid>"],
  [/in progress: [^\s]+:\d+/g, "in progress: <owner>"],
  [/\(by \S+\)/g, "(by <actor>)"],
  // Two processes may batch the same output differently.
  [/\b(\d+)\/\1 kills/g, "<all> kills"],
  [/at \d+ of \d+ boundaries, every \d+\w\w/g, "at <some> boundaries"],
  [/no work lost|work lost ≤ \d+ steps?/g, "work lost ≤ <few>"],
  [/\s+/g, " "],
];

const plain = (line: string): string =>
  VARIABLE.reduce((text, [pattern, to]) => text.replace(pattern, to), line).trim();

/** The lines that weren't printed, ignoring numbers and times. */
export function missing(shows: readonly string[], printed: string): string[] {
  const lines = printed.split("\n").map(plain);
  return shows.filter((one) => !lines.some((line) => line.includes(plain(one))));
}

export interface Ended {
  /** As a shell reports it: 137 after `kill -9`. */
  readonly exit: number;
  readonly printed: string;
}

/** A running process, with its output so far. */
export class Running {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #printed = "";
  #heard = (): void => undefined;

  constructor(program: string, args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#printed += text;
        this.#heard();
      });
    this.#child = child;
    this.ended = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) =>
        resolve({ exit: code ?? (signal === "SIGKILL" ? 137 : 128), printed: this.#printed }),
      );
    });
  }

  /** Resolves when it has printed these lines; rejects when it ends without them. */
  async until(shows: readonly string[]): Promise<void> {
    while (missing(shows, this.#printed).length > 0) {
      const more = new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
      const end = await Promise.race([more, this.ended]);
      if (end && missing(shows, end.printed).length > 0) throw new Error(`It ended early:\n${end.printed}`);
    }
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
