import { ACTS } from "./text/acts.ts";
import { CHECKPOINTS } from "./text/checkpoints.ts";
import { RUNS } from "./text/runs.ts";

import { countText } from "./ui/numbers.ts";

/** Every text of the pages that isn't from the server, in one place. Pages add a section each. */
export const TEXT = {
  product: "Holdfast",
  nav: {
    label: "Pages",
    needsYou: "Needs you",
    runs: "Runs",
    gates: "Gates",
    errors: "Errors",
    schedules: "Schedules",
    queues: "Queues",
    workers: "Workers",
    cost: "Cost",
    reliability: "Reliability",
    audit: "Audit",
    store: "Store",
    settings: "Settings",
    skip: "Skip to the page",
    signOut: "Sign out",
    theme: "Theme",
    density: "Density",
    keys: "Keyboard shortcuts",
    find: "Find a run or an act",
    search: "Find…",
  },
  live: { connecting: "connecting", live: "live", reconnecting: "reconnecting" },
  signIn: {
    title: "Sign in",
    lead: "Paste a token. It is exchanged for a session and not kept in the browser.",
    token: "Token",
    act: "Sign in",
    refused: "This token isn't valid: it may have expired or been revoked.",
    spent: "This sign-in link has been used or has expired. Paste a token instead.",
    make: "No token? On the machine with the store:",
    command: "holdfast token create me --role operator",
  },
  problem: {
    why: "Why",
    safe: "Safe",
    fix: "Fix",
    failed: "This could not be loaded",
    again: "Try again",
    offline: "The server doesn't answer.",
  },
  copy: { act: "Copy", done: "Copied" },
  dialog: {
    reason: "Reason",
    reasonHint: "Recorded with your name. At least 10 characters.",
    templates: "Suggested reasons",
    recorded: (actor: string) => `Recorded as ${actor}`,
    cli: "The same on the command line",
    cancel: "Back",
    may: (permission: string) => `Needs the permission ${permission}.`,
    changed: "The run has moved on since you opened this.",
    look: "Look at it again, then decide.",
  },
  preview: { cut: (shown: string, whole: string) => `The first ${shown} of ${whole}` },
  page: {
    loading: "Loading…",
    notFound: "There is no such page",
    home: "Go to Needs you",
    more: "Show more",
  },
  time: { ago: (span: string) => `${span} ago`, in: (span: string) => `in ${span}`, now: "just now" },

  // Needs you, runs, errors, acts on many runs, palette
  ...RUNS,

  // Run: head, outline, graph, timeline
  run: {
    tokens: (n: string) => `${n} tokens`,
    head: {
      for: "for",
      progress: "Progress",
      done: (text: string) => `${text} done`,
      notSaved: "Nothing has been saved since",
      takenOver: (owner: string) => `The worker was lost. Taken over by ${owner}`,
    },
    facts: {
      started: "Started",
      worked: "Worked for",
      took: "Took",
      worker: "Worker",
      cost: "Cost",
      saved: "Saved by resume",
      reused: (steps: number) => (steps === 1 ? "1 step not repeated" : `${steps} steps not repeated`),
      recoveries: "Taken over",
      resumes: "Resumed",
      queue: "Queue",
      key: "Key",
    },
    lineage: {
      label: "Related runs",
      forkedFrom: "Forked from",
      startedBy: "Started by",
      fork: "Fork",
      all: "All runs that it started",
    },
    views: { label: "Steps", outline: "Outline", graph: "Graph", timeline: "Timeline" },
    keys: { next: "Next step", previous: "Previous step" },
    states: {
      done: "done",
      failed: "failed",
      inDoubt: "in doubt",
      underWay: "under way",
      notStarted: "not started",
      gate: "waits for an answer",
      signal: "waits for a signal",
      timer: "sleeps",
      child: "its run works",
      retry: (when: string) => `tries again ${when}`,
      retries: "tries again",
      until: (when: string) => `wakes ${when}`,
    },
    outline: {
      label: "Steps of the run",
      follow: "Follow",
      failed: "Go to what failed",
      fold: "Fold all",
      unfold: "Unfold all",
      empty: "No step has begun. Steps appear here as soon as a worker takes the run.",
      steps: (n: number) => (n === 1 ? "1 step" : `${countText(n)} steps`),
      loading: (n: number, of: number) => `${countText(n)} of ${countText(of)} steps`,
      attempts: (n: number) => `${n} attempts`,
      instead: { reused: "reused", simulated: "simulated" },
      failedCount: (n: number) => `${countText(n)} failed`,
      name: (kind: string, name: string) =>
        kind === "turn"
          ? `Turn ${name}`
          : kind === "round"
            ? `Round ${name}`
            : kind === "layer"
              ? `Layer ${name}`
              : kind === "item"
                ? `[${name}]`
                : name,
      count: (kind: string, done: string, total: string) =>
        kind === "loop" ? `turn ${done} of ${total}` : `${done} of ${total}`,
    },
    below: {
      label: "About the run",
      events: "Events",
      conversation: "Conversation",
      audit: "Audit",
      cost: "Cost",
    },
    events: {
      filter: "Kinds of events",
      groups: {
        steps: "Steps",
        people: "People",
        worker: "Run",
        checkpoints: "Checkpoints",
        other: "Other",
      },
      failedOnly: "Failed only",
      shown: (n: number, of: number) => `${countText(n)} of ${countText(of)} events`,
      earlier: "Show earlier ones",
      columns: { seq: "Position", when: "When", what: "What", step: "Step", who: "Who and why" },
    },
    audit: {
      verified: "chain intact",
      broken: "chain broken",
      head: "Newest hash",
      again: "Check again",
      nobody: "No person has done anything to this run.",
      columns: { when: "When", who: "Who", what: "What", why: "Why" },
    },
    cost: {
      by: "Group by",
      bys: { step: "Step", model: "Model" },
      tokens: "Tokens",
      spent: "Spent",
      wasted: "Wasted on failed attempts",
      saved: "Saved by resume",
      total: "Total",
      unpriced: (tokens: string) => `${tokens} tokens without a price`,
    },
    conversation: {
      what: "what the agents and their models have said",
      none: "No agent of this run keeps a conversation.",
      agent: "Agent",
      roles: { assistant: "Model", tool: "Tool", user: "User" },
      injected: "added by a person",
      error: "error",
      turns: (n: number) => (n === 1 ? "1 turn," : `${n} turns,`),
      turn: (n: number, of: number) => `turn ${n} of ${of}`,
      messages: (n: number) => (n === 1 ? "1 message" : `${countText(n)} messages`),
      cut: (length: string) => `Cut: the whole text has ${length} characters.`,
    },
    timeline: {
      label: "Attempts and waits over time",
      empty: "The timeline starts with the first step.",
      noFailed: "Nothing has failed.",
      failedOnly: "Failed only",
      table: "Table",
      in: "Zoom in",
      out: "Zoom out",
      gap: (span: string) => `${span} without a call`,
      bar: (kind: string, attempt: number) => `attempt ${attempt}, ${kind}`,
      kinds: {
        done: "done",
        failed: "failed",
        "in doubt": "in doubt",
        "under way": "under way",
        wait: "wait",
        retry: "until the next attempt",
      },
      columns: { step: "Step", attempt: "Attempt", what: "What", began: "Began", took: "Took" },
    },
  },

  // Step inspector
  inspector: {
    label: "Step",
    close: "Close",
    unknown: (step: string) => `This run has no step ${step}.`,
    notStarted: "Planned, but not begun.",
    notBegun: "not begun",
    inside: "Inside",
    notes: "Noted",
    others: (n: number) => `and ${countText(n)} more`,
    attempts: (n: number) => (n === 1 ? "1 attempt" : `${countText(n)} attempts`),
    outcomes: { done: "done", failed: "failed", "in doubt": "in doubt", none: "under way" },
    facts: {
      type: "Kind",
      took: "Took",
      used: "Used",
      answer: "Answer",
      decidedBy: "Decided by",
      until: "Until",
      child: "Run",
      instead: "Result",
      outcome: "Outcome",
      began: "Began",
      waited: "Then waited",
      worker: "Worker",
      error: "Error",
    },
    types: {
      call: "Call",
      gate: "Question to a person",
      timer: "Timer",
      signal: "Wait for a signal",
      child: "Run of its own",
      transaction: "Transaction",
    },
    kinds: {
      step: "Step",
      scope: "Steps inside",
      items: "Branches",
      item: "Branch",
      loop: "Loop",
      turn: "Turn",
      phase: "Phase",
      round: "Round",
      layer: "Layer",
      agent: "Agent",
    },
    instead: { reused: "taken from the run it was forked from", simulated: "simulated" },
    crash: "What a crash here would mean",
    effectNames: { repeatable: "Repeatable", keyed: "Under an idempotency key", once: "Once only" },
    key: "Fingerprint of its key:",
    rerunAfter: "May be called again from",
    values: "Values",
    decision: "Decision",
    alternatives: "Instead of",
    confidence: "Confidence",
    reveal: {
      what: (step: string) => `the values of ${step}`,
      hide: "Hide the values",
      given: "Shown to the person",
      output: "Output",
      noOutput: "There is no output: the step has no result.",
      dropped: "Retention has dropped the values.",
      error: (attempt: number) => `Error of attempt ${attempt}`,
      fixture: "Copy as a test fixture",
    },
  },

  // Acts, plans, forks, checkpoints, gates
  ...ACTS,
  ...CHECKPOINTS,

  // Schedules
  schedules: {},

  // Queues
  queues: {},

  // Workers
  workers: {},

  // Cost
  cost: {},

  // Reliability
  reliability: {},

  // Audit
  audit: {},

  // Store
  store: {},

  // Settings
  settings: {},
} as const;
