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
  page: {
    loading: "Loading…",
    notFound: "There is no such page",
    home: "Go to Needs you",
    more: "Show more",
  },
  time: { ago: (span: string) => `${span} ago`, in: (span: string) => `in ${span}`, now: "just now" },

  // Needs you
  needsYou: {},

  // Runs
  runs: {},

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
  },

  // Step inspector
  inspector: {
    label: "Step",
    close: "Close",
    none: "Select a step to see its attempts, values and decisions.",
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
    effects: {
      repeatable: "The call is made again. Doing it twice does no harm.",
      keyed:
        "The call is made again under the same key, so the receiver counts it once. When the receiver may have forgotten the key, a person decides.",
      once: "Nobody could tell whether it happened. It is neither repeated nor skipped: a person decides.",
    },
    waits: {
      gate: "The question stays open. An answer that was given is never asked for again.",
      timer: "It wakes at the same time as before.",
      signal: "It goes on waiting. A signal that has arrived is not lost.",
      child: "The child is a run of its own and goes on by itself.",
      transaction: "It is committed together with its record, or not at all.",
    },
    key: "Fingerprint of its key:",
    rerunAfter: "May be called again from",
  },

  // Acts on runs: titles, what happens, what the button says, reasons that are often given
  acts: {
    names: {
      answer: "Answer…",
      resolve: "Decide…",
      budget: "Raise budget…",
      migrate: "Migrate…",
      resume: "Resume…",
      signal: "Send signal…",
      retry: "Retry now…",
      pause: "Pause…",
      fork: "Fork…",
      cancel: "Cancel…",
      undo: "Cancel and undo…",
      inject: "Inject context…",
      pin: "Pin…",
      unpin: "Unpin…",
      export: "Export…",
      delete: "Delete…",
    },
    more: (run: string) => `More acts for ${run}`,
    pausing: "Pausing…",
    open: "Open the new run",
    pause: (run: string) => ({
      title: `Pause ${run}`,
      effect: "The step under way finishes, then the run stops. No new step starts, and nothing is lost.",
      verb: "Pause (finishes the current step)",
      reasons: ["Deploying a new version", "Looking into wrong results", "Outage of a provider"],
    }),
    cancel: (run: string) => ({
      title: `Cancel ${run}`,
      effect: "The run ends for good, as it is now. Nothing is undone, and checkpoints are kept.",
      verb: "Cancel (keeps checkpoints)",
      reasons: ["No longer needed", "Started by mistake", "Its input was wrong"],
    }),
    undo: (run: string) => ({
      title: `Cancel ${run} and undo its work`,
      effect:
        "Finished steps that can be undone are undone, the last one first. Then the run ends for good. Checkpoints are kept.",
      verb: "Cancel and undo",
      reasons: ["Started by mistake", "The order was withdrawn", "Its input was wrong"],
    }),
    retry: (step: string) => ({
      title: `Retry ${step}`,
      effect: `${step} is called again at once, without waiting for its next attempt.`,
      verb: "Retry now",
      reasons: ["The provider is back", "The cause has been fixed"],
    }),
    migrate: (run: string) => ({
      title: `Migrate ${run}`,
      effect:
        "The run is carried over to the version of the code that this server has. It is refused if the records don't fit that code.",
      verb: "Migrate",
      reasons: ["A new version was deployed", "The migration has been reviewed"],
    }),
    pin: (run: string) => ({
      title: `Pin ${run}`,
      effect: "All values of the run and of those below it are kept, whatever retention says.",
      verb: "Pin",
      reasons: ["Evidence for an audit", "Kept as a reference"],
    }),
    unpin: (run: string) => ({
      title: `Unpin ${run}`,
      effect: "Retention may drop the values of the run again when their time is up.",
      verb: "Unpin",
      reasons: ["The audit is over", "Pinned by mistake"],
    }),
    export: (run: string) => ({
      title: `Export ${run}`,
      effect:
        "Saves the run and those below it, with their values, as a file that another store can import. The reading is recorded.",
      verb: "Export",
      reasons: ["Looking into it on another machine", "Evidence for an audit"],
    }),
    delete: (run: string) => ({
      title: `Delete ${run}`,
      effect:
        "The run, those it started and everything stored of them are deleted for good. A record of the deletion stays.",
      verb: "Delete for good",
      reasons: ["A customer asked for it", "A test that is not needed"],
    }),
    inject: (run: string) => ({
      title: `Inject context into ${run}`,
      effect: "The run finds it at its next step. What is already done stays as it is.",
      verb: "Inject",
      reasons: ["New facts have come in", "Correcting a misunderstanding"],
    }),
    injectText: "Context",
    injectHint: "Plain text. A JSON object or list is passed as a value.",
    injectTo: "For the agent (empty: all)",
    injectChildren: "Also the runs below it",
    signal: (run: string) => ({
      title: `Send a signal to ${run}`,
      effect: "The message goes into the run's mailbox. The run goes on if it waits for it.",
      verb: "Send",
      reasons: ["The event has happened outside", "Sent again because it was lost"],
    }),
    signalName: "Name",
    signalPayload: "Message (JSON; may be empty)",
  },

  // JSON editor
  json: {
    wrong: (line: number, column: number, why: string) => `Line ${line}, column ${column}: ${why}`,
    items: (n: number) => (n === 1 ? "1 item" : `${n} items`),
    more: (n: number) => `${n} more`,
  },

  // Scrubber, compare, fork
  checkpoints: {},

  // Plan dialog
  plan: {
    title: (run: string) => `Resume ${run}`,
    effect: "The run goes on where it stopped. Finished work is not repeated. This is what would happen:",
    effectBudget:
      "The run goes on once its limit is higher than what it has used. Give the new limit below. This is what would happen:",
    verb: "Resume",
    again: "Plan again",
    planning: "Working out what would happen…",
    reasons: ["The cause has been fixed", "The provider is back", "Reviewed, can go on"],
    reused: "Reused",
    runsNext: "Starts with",
    inDoubt: "In doubt",
    rest: "Left to do",
    steps: (n: number) => (n === 1 ? "1 step" : `${n} steps`),
    saves: (what: string) => `${what} not spent again`,
    tokens: (n: string) => `${n} tokens`,
    nothingDone: "No step is done yet.",
    allKnown: "Every outcome is known.",
    seeBelow: "See below how each is treated.",
    median: (runs: number) => (runs === 1 ? "As the run before." : `Median of ${runs} runs.`),
    noEstimate: "No completed run to compare with.",
    unknown: "unknown",
    budgetLeft: (amount: string) => `${amount} of the budget is left.`,
    ends: {
      completes: "Then it completes.",
      fails: "Then it fails.",
      "is cancelled": "Then it is cancelled.",
      open: "What follows depends on them.",
      "does not move": "It does not move.",
    },
    noCode:
      "This server doesn't have the workflow's code, so this is only what the journal says. A worker that has the code goes on with the run. For a whole plan, start the server with the workflow's file.",
    blocked: (why: string) => `It can't go on: ${why}`,
    worker: "At work",
    workerNote: (owner: string) => `${owner} may be working on it now, so what seems in doubt may be under way.`,
    verified: "Verified",
    runs: "Runs",
    waits: "Waits for",
    changed: "Changed",
    policy: "Policy",
    approvals: "Approvals",
    content: "Held back",
    children: "Runs below",
    then: "Then",
    times: (n: number) => `× ${n}`,
    attempt: (n: number) => `attempt ${n}`,
    effects: { repeatable: "may be repeated", keyed: "repeated under the same key", once: "at most once" },
    instead: {
      reused: "the record is reused",
      asked: "a person is asked first",
      simulated: "simulated, nothing is called",
      "called again": "called again",
    },
    approval: {
      needed: "a person will be asked",
      open: "a person is being asked",
      void: "the answer no longer counts, so a person is asked again",
      given: "approved",
      refused: "refused",
    },
    startsWith: (n: number) => `starts with ${n} ${n === 1 ? "step" : "steps"}`,
    depends: (steps: string) => `The next steps depend on ${steps}.`,
    announced: (steps: string) => `Announced: ${steps}`,
    version: (from: string, to: string) => `Version ${from} → ${to}`,
    schema: (from: number, to: number) => `Schema of the state ${from} → ${to}`,
    notAsked: (steps: string) => `No longer asked for: ${steps}`,
    added: (steps: string) => `New: ${steps}`,
    allowed: (n: number) => `${n} allowed`,
    denied: (why: string) => `denied: ${why}`,
    asks: (why: string) => `a person is asked: ${why}`,
    parked: (why: string) => `held back: ${why}`,
    left: (why: string) => `left out: ${why}`,
    below: "Resume the runs below it, too",
    withChanges: "Resume with changes",
    retryFailed: "Try every failed step again",
    now: "Try at once, even if the receiver asked to wait",
    budget: "New cost limit (US$)",
    inject: "Context for the run",
    set: "Edits (JSON)",
    setHint: 'For example {"memory":{"model":"larger"},"steps":{"load":[2]},"config":{},"input":{}}',
  },

  // Gates
  gates: {},

  // Errors
  errors: {},

  // Palette
  palette: {},

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
