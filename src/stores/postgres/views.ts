/**
 * Read-only views for people with SQL. They show what journal heads say: names, times, kinds. Values are encoded, and
 * may be encrypted or dropped, so a column that would need one is null; the library and the CLI show them.
 */
export const views = (at: string): readonly string[] => [
  events(at),
  checkpoints(at),
  workflowCheckpoints(at),
  agentCheckpoints(at),
  ...Object.entries(COMMENTS).map(([view, text]) => `COMMENT ON VIEW ${at}${view} IS '${text} ${ENCODED}'`),
];

const ENCODED = "Values are encoded and not shown here: read them with the library or the CLI.";
const COMMENTS = {
  events: "One row per event of each journal; an entry that is not in the format of a journal has none.",
  checkpoints:
    "One row per run, as it stands. Always null: workflow_inputs, agent_outputs, context_snapshot.",
  workflow_checkpoints:
    "One row per journal entry, its events as the state. Always null: layer_index, dag_structure, execution_config.",
  agent_checkpoints:
    "One row per position to come back to. Always null: stock_ticker, working_memory, interim_results, agent_config, error_details; without a plan also progress_pct and pending_subtasks.",
} as const;

/** Replaces escapes for which PostgreSQL has no character with U+FFFD, so that every text can be parsed. */
const asJson = (text: string): string =>
  String.raw`regexp_replace(${text}, E'\\\\u(0000|d[89a-f][0-9a-f]{2})', E'\\\\ufffd', 'gi')::json`;

const time = (ms: string): string => `to_timestamp(${ms} / 1000)`;

const IS_DONE = `(kind IN ('step_completed', 'gate_answered')
    OR kind = 'child_finished' AND meta ->> 'status' = 'completed')`;
const HAS_FAILED = "kind = 'step_failed' AND meta ->> 'retryAt' IS NULL";

/** A position that a run can be restored to, by the engine's own rule. */
const IS_CHECKPOINT = `(${IS_DONE} OR ${HAS_FAILED}
    OR kind IN ('loop_advanced', 'checkpoint_marked', 'run_paused', 'run_completed', 'run_failed', 'run_cancelled'))`;

/** A move begins or ends a step. The current step is the last one whose newest move began it. */
const IS_MOVE = `(kind IN ('step_started', 'child_finished', 'step_resolved') OR ${IS_DONE} OR ${HAS_FAILED})`;
const current = (steps: string, kinds: string): string => `(
    SELECT newest.step FROM (
      SELECT DISTINCT ON (one.step) one.step, one.kind, one.place
      FROM unnest(${steps}, ${kinds}) WITH ORDINALITY AS one (step, kind, place) ORDER BY one.step, one.place DESC
    ) AS newest WHERE newest.kind = 'step_started' ORDER BY newest.place DESC LIMIT 1)`;

const events = (at: string): string => `CREATE VIEW ${at}events AS
  SELECT run.id AS run_id, run.workflow, run.parent_run, entry.seq + event.place - 1 AS seq,
    entry.seq + entry.count - 1 AS entry_seq, ${time("(head.content ->> 't')::double precision")} AS at,
    head.content ->> 'a' AS actor, event.content ->> 0 AS kind, event.content ->> 1 AS step,
    event.content -> 2 AS meta
  FROM ${at}runs AS run JOIN ${at}journal AS entry ON entry.run = run.n
  CROSS JOIN LATERAL (
    SELECT CASE WHEN entry.head LIKE '{"p":"%}' THEN ${asJson("entry.head")} END AS content
  ) AS head
  CROSS JOIN LATERAL json_array_elements(head.content -> 'v') WITH ORDINALITY AS event (content, place)`;

const checkpoints = (at: string): string => `CREATE VIEW ${at}checkpoints AS
  SELECT run.id || '@' || run.seq AS checkpoint_id, run.workflow AS workflow_name, NULL::json AS workflow_inputs,
    CASE WHEN run.status NOT IN ('completed', 'failed', 'cancelled') THEN ${current("told.steps", "told.kinds")} END
      AS current_agent,
    run.status = 'running' AS in_progress, coalesce(told.done, '{}') AS completed_agents,
    NULL::json AS agent_outputs, NULL::json AS context_snapshot,
    (projection.content ->> 'turns')::bigint AS iteration, ${time("run.created_at")} AS created_at,
    ${time("(projection.content ->> 'updatedAt')::double precision")} AS updated_at,
    run.id AS run_id, run.status, projection.content ->> 'error' AS error
  FROM ${at}runs AS run
  CROSS JOIN LATERAL (SELECT ${asJson("run.projection")} AS content) AS projection
  CROSS JOIN LATERAL (
    SELECT array_agg(step ORDER BY seq) FILTER (WHERE ${IS_MOVE}) AS steps,
      array_agg(kind ORDER BY seq) FILTER (WHERE ${IS_MOVE}) AS kinds,
      array_agg(step ORDER BY seq) FILTER (WHERE ${IS_DONE}) AS done
    FROM ${at}events AS event WHERE event.run_id = run.id
  ) AS told`;

const workflowCheckpoints = (at: string): string => `CREATE VIEW ${at}workflow_checkpoints AS
  SELECT run_id || '@' || entry_seq AS id, run_id AS workflow_id, max(at) AS "timestamp",
    NULL::integer AS layer_index,
    jsonb_agg(jsonb_build_object('seq', seq, 'kind', kind, 'step', step, 'meta', meta) ORDER BY seq) AS state,
    NULL::jsonb AS dag_structure, NULL::jsonb AS execution_config, workflow AS workflow_name
  FROM ${at}events GROUP BY run_id, workflow, entry_seq`;

const agentCheckpoints = (at: string): string => `CREATE VIEW ${at}agent_checkpoints AS
  SELECT told.run_id || '@' || told.seq AS id, NULL::text AS stock_ticker, told.workflow AS agent_type,
    coalesce(told.parent_run, told.run_id) AS analysis_id, told.at AS checkpoint_time,
    round(100.0 * (SELECT count(*) FROM unnest(plan.steps) AS one (step) WHERE one.step = ANY (told.done))
      / nullif(cardinality(plan.steps), 0), 2)::numeric(5, 2) AS progress_pct,
    ${current("told.steps", "told.kinds")} AS current_subtask, coalesce(told.done, '{}') AS completed_subtasks,
    CASE WHEN plan.steps IS NOT NULL THEN array(
      SELECT one.step FROM unnest(plan.steps) WITH ORDINALITY AS one (step, place)
      WHERE one.step <> ALL (coalesce(told.done, '{}')) ORDER BY one.place) END AS pending_subtasks,
    NULL::jsonb AS working_memory, NULL::jsonb AS interim_results, NULL::jsonb AS agent_config,
    CASE WHEN told.kind = 'run_failed' THEN told.meta ->> 'message' END AS failure_reason,
    NULL::jsonb AS error_details, told.failures::integer AS retry_count,
    told.versions[cardinality(told.versions)] AS agent_version, told.at AS created_at, told.run_id, told.kind, told.step
  FROM (${soFar(at)}) AS told
  CROSS JOIN LATERAL (
    SELECT CASE WHEN told.plans IS NOT NULL
      THEN array(SELECT json_array_elements_text(told.plans[cardinality(told.plans)])) END AS steps
  ) AS plan
  WHERE ${IS_CHECKPOINT}`;

/** Each event with the totals up to it. */
const soFar = (at: string): string => `
    SELECT event.*,
      array_agg(coalesce(meta ->> 'version', meta ->> 'to'))
        FILTER (WHERE kind IN ('run_created', 'run_migrated')) OVER so_far AS versions,
      array_agg(step) FILTER (WHERE ${IS_MOVE}) OVER so_far AS steps,
      array_agg(kind) FILTER (WHERE ${IS_MOVE}) OVER so_far AS kinds,
      array_agg(step) FILTER (WHERE ${IS_DONE}) OVER so_far AS done,
      count(*) FILTER (WHERE kind = 'step_failed') OVER so_far AS failures,
      array_agg(meta -> 'steps')
        FILTER (WHERE kind = 'plan_made' AND step ~ '^plan(#[0-9]+)?$') OVER so_far AS plans
    FROM ${at}events AS event
    WINDOW so_far AS (PARTITION BY event.run_id, event.workflow, event.parent_run ORDER BY event.seq)
  `;
