import type { CheckpointedAgent } from "../../src/team/index.ts";

const SUBTASKS = [
  "dcf_assumptions",
  "cash_flow_projection",
  "wacc_calculation",
  "terminal_value",
  "sensitivity_analysis",
];

/** An agent class as somebody might have it, with its own memory and results. */
export class StockAgent implements CheckpointedAgent {
  agentType: string;
  analysisId = "";
  stockTicker = "";
  readonly version: string;
  retryCount = 0;
  completedSubtasks: string[] = [];
  pendingSubtasks: string[] = [...SUBTASKS];
  readonly config: { readonly settings: unknown; toDict(): unknown };
  memory = new Map<string, unknown>();
  results: Record<string, unknown> = {};
  readonly l1Cache = {
    dump: (): unknown => Object.fromEntries(this.memory),
    restore: (dump: unknown): void => {
      this.memory = new Map(Object.entries(dump as object));
    },
  };

  constructor(agentType: string, settings: unknown, version = "1.0") {
    this.agentType = agentType;
    this.version = version;
    this.config = { settings, toDict: () => settings };
  }

  calculateProgress(): number {
    const all = this.completedSubtasks.length + this.pendingSubtasks.length;
    return Math.round((10_000 * this.completedSubtasks.length) / all) / 100;
  }

  nextSubtask(): string | null {
    return this.pendingSubtasks[0] ?? null;
  }

  getInterimResults(): unknown {
    return this.results;
  }

  setInterimResults(results: unknown): void {
    this.results = { ...(results as Record<string, unknown>) };
  }

  /** Does the next subtask and returns its name. */
  doNext(): string {
    const name = this.pendingSubtasks.shift() ?? "";
    this.completedSubtasks.push(name);
    this.memory.set(name, { note: `${name} of ${this.stockTicker}`, at: new Date(1_700_000_000_000) });
    this.results[name] = { value: this.completedSubtasks.length * 1.5, sources: ["10-K", "10-Q"] };
    return name;
  }

  /** Everything that must survive. */
  state(): unknown {
    const { agentType, analysisId, stockTicker, version, retryCount, completedSubtasks, pendingSubtasks } =
      this;
    const ids = { agentType, analysisId, stockTicker, version, retryCount };
    return {
      ...ids,
      completedSubtasks,
      pendingSubtasks,
      memory: this.memory,
      results: this.results,
      config: this.config.settings,
    };
  }
}

export function stockAgent(analysisId: string, agentType = "valuation_agent", version = "1.0"): StockAgent {
  const agent = new StockAgent(agentType, { model: "large", horizon_years: 10 }, version);
  return Object.assign(agent, { analysisId, stockTicker: "AAPL" });
}

export const createStockAgent = (type: string, config: unknown): StockAgent => new StockAgent(type, config);
