import { levelOf } from "../../core/journal/event-level.ts";
import type { EventKind, JournalEvent } from "../../core/journal/events.ts";
import type { LogLevel } from "../../core/log-line.ts";
import type { Tone } from "./standing.ts";

export const TONES: Readonly<Record<LogLevel, Tone>> = {
  debug: "calm",
  info: "good",
  warn: "waits",
  error: "bad",
};

export function toneOf(event: JournalEvent): Tone {
  const isDone = ["step_completed", "gate_answered", "run_completed"].includes(event.kind);
  const level = levelOf(event);
  return level === "info" && !isDone ? "busy" : TONES[level];
}

/** The signs of lines that a workflow wrote. */
export const LEVEL_GLYPHS: Readonly<Record<LogLevel, string>> = {
  debug: "·",
  info: "·",
  warn: "!",
  error: "✗",
};

const GLYPHS: Partial<Record<EventKind, string>> = {
  run_created: "▶",
  run_forked: "▶",
  run_resumed: "▶",
  run_paused: "‖",
  run_waiting: "‖",
  step_started: "○",
};

export function glyphOf(event: JournalEvent): string {
  const level = levelOf(event);
  if (level === "error") return "✗";
  if (level === "warn") return "!";
  return GLYPHS[event.kind] ?? (toneOf(event) === "good" ? "✓" : "·");
}
