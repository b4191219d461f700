/** What each of the 13 specialist agents does: its subtasks, their deliverables, and the stores that these land in. */
export interface SubtaskSpec {
  readonly name: string;
  readonly deliverable: string;
  readonly target: string;
}

export interface AgentSpec {
  readonly type: string;
  readonly title: string;
  /** Agents of an earlier stage whose results it uses. */
  readonly needs?: readonly string[];
  readonly subtasks: readonly SubtaskSpec[];
}

const POSTGRES = "PostgreSQL";
const GRAPH = "Neo4j";

const of = (name: string, deliverable: string, target: string): SubtaskSpec => ({
  name,
  deliverable,
  target,
});

/** The first three are those of the decision record. */
export const STOCK_AGENTS: readonly AgentSpec[] = [
  {
    type: "financial_analyst",
    title: "Financial Analyst",
    subtasks: [
      of("10k_parsing", "financial_statements_json", POSTGRES),
      of("ratio_calculation", "ratio_table", POSTGRES),
      of("peer_comparison", "comparison_matrix", "Redis L2"),
      of("red_flag_detection", "findings", GRAPH),
    ],
  },
  {
    type: "strategy_analyst",
    title: "Strategy Analyst",
    subtasks: [
      of("historical_roi", "roi_timeseries", POSTGRES),
      of("ma_review", "ma_findings", GRAPH),
      of("mgmt_compensation", "compensation_analysis", GRAPH),
      of("capital_allocation_scoring", "final_score", "Neo4j + message"),
    ],
  },
  {
    type: "valuation_agent",
    title: "Valuation Agent",
    needs: ["financial_analyst"],
    subtasks: [
      of("dcf_assumptions", "assumption_table", POSTGRES),
      of("cash_flow_projection", "fcf_model", POSTGRES),
      of("wacc_calculation", "wacc_result", POSTGRES),
      of("terminal_value", "terminal_value_calc", POSTGRES),
      of("sensitivity_analysis", "scenario_table", GRAPH),
    ],
  },
  {
    type: "business_model_analyst",
    title: "Business Model Analyst",
    subtasks: [
      of("segment_breakdown", "segment_table", POSTGRES),
      of("revenue_drivers", "driver_list", POSTGRES),
      of("unit_economics", "unit_model", POSTGRES),
      of("moat_assessment", "moat_findings", GRAPH),
    ],
  },
  {
    type: "industry_analyst",
    title: "Industry Analyst",
    subtasks: [
      of("market_sizing", "market_table", POSTGRES),
      of("competitor_mapping", "competitor_graph", GRAPH),
      of("five_forces", "forces_scores", POSTGRES),
      of("cycle_position", "cycle_findings", GRAPH),
    ],
  },
  {
    type: "news_analyst",
    title: "News Analyst",
    subtasks: [
      of("headline_collection", "headline_list", POSTGRES),
      of("event_extraction", "event_graph", GRAPH),
      of("materiality_ranking", "ranked_events", POSTGRES),
      of("news_summary", "news_findings", GRAPH),
    ],
  },
  {
    type: "sentiment_analyst",
    title: "Sentiment Analyst",
    subtasks: [
      of("source_sampling", "sample_set", "Redis L2"),
      of("tone_scoring", "tone_timeseries", POSTGRES),
      of("analyst_revisions", "revision_table", POSTGRES),
      of("sentiment_summary", "sentiment_findings", GRAPH),
    ],
  },
  {
    type: "technical_analyst",
    title: "Technical Analyst",
    subtasks: [
      of("price_history", "price_timeseries", POSTGRES),
      of("trend_indicators", "indicator_table", POSTGRES),
      of("support_resistance", "level_table", POSTGRES),
      of("momentum_signal", "signal_findings", GRAPH),
    ],
  },
  {
    type: "macro_analyst",
    title: "Macro Analyst",
    subtasks: [
      of("rate_environment", "rate_table", POSTGRES),
      of("currency_exposure", "exposure_table", POSTGRES),
      of("commodity_inputs", "input_costs", POSTGRES),
      of("macro_scenarios", "scenario_findings", GRAPH),
    ],
  },
  {
    type: "esg_analyst",
    title: "ESG Analyst",
    subtasks: [
      of("disclosure_review", "disclosure_table", POSTGRES),
      of("controversy_scan", "controversy_graph", GRAPH),
      of("governance_check", "governance_scores", POSTGRES),
      of("esg_rating", "esg_findings", GRAPH),
    ],
  },
  {
    type: "management_analyst",
    title: "Management Analyst",
    subtasks: [
      of("leadership_history", "leadership_graph", GRAPH),
      of("insider_transactions", "insider_table", POSTGRES),
      of("guidance_accuracy", "guidance_scores", POSTGRES),
      of("board_independence", "board_findings", GRAPH),
    ],
  },
  {
    type: "risk_analyst",
    title: "Risk Analyst",
    needs: ["financial_analyst", "strategy_analyst"],
    subtasks: [
      of("risk_inventory", "risk_register", POSTGRES),
      of("balance_sheet_stress", "stress_table", POSTGRES),
      of("litigation_review", "litigation_graph", GRAPH),
      of("downside_scenarios", "downside_table", POSTGRES),
      of("risk_rating", "risk_findings", GRAPH),
    ],
  },
  {
    type: "report_writer",
    title: "Report Writer",
    needs: ["valuation_agent", "risk_analyst"],
    subtasks: [
      of("thesis", "thesis_text", POSTGRES),
      of("bull_and_bear", "case_table", POSTGRES),
      of("position_sizing", "sizing_note", POSTGRES),
      of("memo", "investment_memo", "Neo4j + message"),
    ],
  },
];
