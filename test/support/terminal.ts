import { spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

/** Whether there is a tmux to play the terminal. */
export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

const LOOK_MS = 50;
const PATIENCE_MS = 60_000;

/** A real terminal of so many columns with a shell in it: what a program writes is what a person would see. */
export class Terminal {
  readonly #socket = `holdfast-${process.pid}-${Math.random().toString(36).slice(2)}`;
  #typed = 0;

  constructor(columns: number, folder: string, aliases: Readonly<Record<string, string>> = {}) {
    const shell = "env -u CI -u NO_COLOR PS1='$ ' bash --norc --noprofile";
    this.#tmux("new-session", "-d", "-x", String(columns), "-y", "40", "-c", folder, shell);
    for (const [name, command] of Object.entries(aliases)) this.#keys(`alias ${name}='${command}'`);
  }

  #tmux(...args: readonly string[]): string {
    const { stdout, stderr, status } = spawnSync("tmux", ["-L", this.#socket, ...args], { encoding: "utf8" });
    if (status !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  #keys(line: string): void {
    this.#tmux("send-keys", "-l", line);
    this.#tmux("send-keys", "Enter");
  }

  /** Types a command on a cleared screen, and doesn't wait for it. Returns a function that does. */
  start(command: string): () => void {
    const done = `done-${++this.#typed}`;
    this.#keys(`clear; ${command}; tmux -L ${this.#socket} wait-for -S ${done}`);
    return () => void this.#tmux("wait-for", done);
  }

  /** Types a command, waits until it has ended, and returns what is on the screen then. */
  type(command: string): string[] {
    this.start(command)();
    return this.screen();
  }

  press(key: string): void {
    this.#tmux("send-keys", key);
  }

  /** What is on the screen. A line that the terminal had to break is one line here, longer than the screen is wide. */
  screen(): string[] {
    const shown = this.#tmux("capture-pane", "-p", "-J").trimEnd().split("\n");
    // The prompt, and the end of the command line that was typed before the screen was cleared.
    return shown
      .map((line) => line.trimEnd())
      .filter((line) => line !== "$" && !line.includes("wait-for -S"));
  }

  /** Waits until a text is on the screen. */
  async until(text: string): Promise<string[]> {
    for (let left = PATIENCE_MS; left > 0; left -= LOOK_MS) {
      const shown = this.screen();
      if (shown.some((line) => line.includes(text))) return shown;
      await pause(LOOK_MS);
    }
    throw new Error(`"${text}" never appeared:\n${this.screen().join("\n")}`);
  }

  close(): void {
    this.#tmux("kill-server");
  }
}
