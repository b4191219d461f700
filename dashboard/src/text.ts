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
  run: {},

  // Step inspector
  inspector: {},

  // Scrubber, compare, fork
  checkpoints: {},

  // Plan dialog
  plan: {},

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
