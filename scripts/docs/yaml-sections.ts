/** What each key of a workflow file means. `npm run docs` fails when a key of the schema is missing here, and a test when no example uses it. */

export interface Section {
  readonly title: string;
  readonly about: string;
  /** A file in docs/yaml-keys, which is a whole workflow that validates. */
  readonly example: string;
  /** Files with keys that can't stand beside those of the first. */
  readonly others?: readonly string[];
  /** By block and key. */
  readonly blocks: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const STEP = {
  name: "its name, by which routes, templates and commands find it",
  checkpoint: "mark a checkpoint when it ends: `true` for one under its name, or a label. Holdfast's own key",
  description: "for people who read the file or look at a run",
  input:
    "what its templates may use in `explicit` mode, such as `draft.output`; a `?` at the end makes it optional",
  routes: "where to continue; the first route that fits counts. Without routes the workflow ends here",
};

const FAILURE_MODE =
  "`fail_fast`: the first failure stops the group; `continue_on_error`: go through all, and fail only if every one failed; `all_or_nothing`: go through all, and fail if one failed";

export const SECTIONS: readonly Section[] = [
  {
    title: "The file",
    about: "A file has one `workflow`, its agents and groups, and the output.",
    example: "file",
    blocks: {
      file: {
        workflow: "name, entry point and settings; see [workflow](#workflow)",
        tools: "names of the tools that agents may use; the program supplies the functions",
        agents:
          "the steps, each of one type: `agent` (default), `human_gate`, `questions`, `script`, `set`, `wait`, `workflow` or `terminate`",
        parallel: "groups of agents that run side by side; see [parallel](#parallel)",
        for_each: "groups that run one agent for each item of a list; see [for_each](#for_each)",
        output: "the result of the workflow: templates by name",
        checkpoint_config:
          "settings in the words of the checkpoint system design; see [checkpoint](#checkpoint)",
        recovery_config: "the same",
        performance_config: "the same",
      },
    },
  },
  {
    title: "workflow",
    about: "Names the workflow and says where it begins.",
    example: "workflow",
    blocks: {
      workflow: {
        name: "the name of the workflow",
        description: "for people; templates see it as `workflow.description`",
        version: "part of the version of its runs, together with a digest of the text",
        entry_point: "the agent or group to start with",
        runtime: "models and servers; see [runtime](#runtime)",
        input: "what a run is started with; see [input](#input)",
        context: "what agents see of each other; see [limits](#limits-and-costs)",
        limits: "how far a run may get; see [limits](#limits-and-costs)",
        cost: "prices of models; see [limits](#limits-and-costs)",
        hooks: "texts noted at the beginning and the end; see [limits](#limits-and-costs)",
        metadata: "values of your own. Holdfast doesn't use them",
        instructions: "files whose text precedes every agent's prompt",
        checkpoint: "how runs are kept; see [checkpoint](#checkpoint)",
        schedule: "when runs start by themselves; see [schedule](#schedule)",
        start: "the queue of its runs, and how they stand to each other; see [start](#start)",
      },
    },
  },
  {
    title: "schedule",
    about:
      "Starts runs at set times: give exactly one of `cron`, `every` and `at`. [Schedules](schedules.md) has the rules. Holdfast's own key.",
    example: "schedule",
    others: ["schedule-every", "schedule-at"],
    blocks: {
      "workflow.schedule": {
        cron: "five fields, six with seconds first, or a nickname such as `@daily`",
        every:
          "the time between ticks, at least a second, counted from `start` or from the schedule's creation",
        at: "the moment of a single tick, with its time zone",
        timezone: "the time zone of `cron`. Default `UTC`",
        start: "no tick before this moment",
        end: "no tick after this moment",
        overlap:
          "while the run of the tick before hasn't ended: `skip` this tick, `queue` it, `cancel` that run, or `allow` both",
        max_queued: "how many ticks may wait with `queue`",
        catch_up: "which ticks to make up for after downtime",
        jitter: "start each run up to this much later",
        input: "what its runs are started with",
      },
      "workflow.schedule.catch_up": {
        most: "how many ticks, the newest first",
        within: "how late they may be",
      },
    },
  },
  {
    title: "start",
    about:
      "Says how runs start, where the caller says nothing: `engine.start`, `holdfast run`, the API, a schedule or a run above. [Queues](queues.md) has the rules. Holdfast's own key.",
    example: "start",
    others: ["start-debounce"],
    blocks: {
      "workflow.start": {
        queue: "the queue whose limits apply to the runs",
        key: "what a run is about, such as a customer: a template that sees `workflow`. Limits, `singleton` and `debounce` go by it",
        priority:
          "from -100 to 100; of the runs that are due, those with a higher one are taken first. Default 0",
        singleton:
          "while a run of the key hasn't ended, a start is joined to it (`join`) or refused (`refuse`)",
        debounce: "begins when there was no other start of the key for so long; the last input counts",
      },
    },
  },
  {
    title: "input",
    about:
      "Declares what a run is started with. Inputs that aren't declared are refused, unless the file declares none.",
    example: "inputs",
    blocks: {
      "workflow.input.*": {
        type: "the type of the value",
        required: "whether a start without it is refused",
        default: "the value if none is given",
        description: "for people; `holdfast show flow.yaml` prints it",
      },
    },
  },
  {
    title: "runtime",
    about: "Chooses models, their settings, and the MCP servers that agents may use.",
    example: "runtime",
    blocks: {
      "workflow.runtime": {
        provider: "the provider of models, by name, or with the settings of its endpoint",
        default_model: "the model of agents that name none",
        mcp_servers: "servers by name; their tools are called `server__tool`",
        temperature: "passed to the model",
        max_tokens: "the longest answer, in tokens",
        timeout: "seconds for one model call",
        max_session_seconds: "seconds for one agent, all its turns included",
        max_agent_iterations: "turns of one agent",
        default_reasoning_effort: "for agents that set none; `xhigh` and `max` are asked for as `high`",
        default_context_tier: "only `default` has an effect; choose a model with a long context instead",
        checkpoint: "accepted for Conductor's sake, since every step is saved anyway",
        tool_output: "how much of a tool's answer the model sees",
        working_dir: "where MCP servers are started",
        skills: "folders with a `SKILL.md`, whose text precedes the prompt of agents that name none",
        plugins: "must be empty: plugins aren't supported",
      },
      "workflow.runtime.provider": {
        name: "the name under which the program or the configuration knows the provider",
        type: "the protocol of the endpoint",
        wire_api: "OpenAI's completions or responses",
        base_url: "the address of the endpoint",
        api_key: "its key; use `${NAME}` for an environment variable",
        bearer_token: "a bearer token instead of a key",
        auth_token: "the same, as Anthropic names it",
        headers: "more headers for every request",
        azure: "settings for Azure",
      },
      "workflow.runtime.provider.azure": { api_version: "the version of Azure's API" },
      "workflow.runtime.mcp_servers.*": {
        type: "how the server is reached",
        command: "the program of a `stdio` server",
        args: "its arguments",
        env: "its environment, besides PATH, HOME and the like",
        url: "the address of an `http` or `sse` server",
        headers: "headers for every request",
        timeout: "milliseconds for its start and each call",
        tools: "which of its tools agents may use",
      },
      "workflow.runtime.checkpoint": {
        every_agent: "no effect: every step is saved",
        every_seconds: "no effect: steps are saved more often than this",
        keep_last: "the same as `checkpoint.retention.max_checkpoints`",
      },
      "workflow.runtime.tool_output": {
        enabled: "whether long answers are cut",
        max_chars: "the longest answer that the model sees",
        spill_to_file: "no effect: what is cut off isn't written to a file",
        spill_dir: "must be empty",
      },
    },
  },
  {
    title: "Limits and costs",
    about: "Limits what a run may do and spend, and what agents see of each other.",
    example: "limits",
    blocks: {
      "workflow.context": {
        mode: "`accumulate`: agents see all outputs so far; `last_only`: only the last; `explicit`: only what they list under `input`",
        max_tokens: "the most that the context may hold",
        trim_strategy: "what goes first when it is too long: the ends of texts, or the oldest outputs",
      },
      "workflow.limits": {
        max_iterations: "agents visited in a run; reaching it asks a person whether to continue",
        timeout_seconds: "working time of the run; waiting and pauses don't count. Reaching it is a wait",
        budget_usd: "what the run may cost",
        budget_mode: "`enforce`: the run waits at the limit; `audit`: it is only noted",
      },
      "workflow.cost": {
        show_per_agent: "accepted for Conductor's sake; `holdfast cost` shows both",
        show_summary: "the same",
        pricing: "prices by model. A model without a price is unpriced, never free",
      },
      "workflow.cost.pricing.*": {
        input_per_mtok: "US dollars per million input tokens",
        output_per_mtok: "US dollars per million output tokens",
        cache_read_per_mtok: "no effect: cached tokens are counted like others",
        cache_write_per_mtok: "the same",
      },
      "workflow.hooks": {
        on_start: "a template, noted among the run's decisions when it starts",
        on_complete: "the same when it completes; `result` is its output",
        on_error: "the same when it fails; `error` is what failed",
      },
    },
  },
  {
    title: "checkpoint",
    about: "Says where runs are kept, for how long, and what a failure means.",
    example: "checkpoint",
    blocks: {
      "workflow.checkpoint": {
        enabled: "`false` saves nothing",
        storage: "the kind of store; `postgres` and `redis` need an address",
        path: "a file, a folder or an address; `${workflow.name}` and `{TASK}` stand for the workflow's name",
        on_failure:
          "`pause`: the run can be resumed; `continue`: take the next route; `rollback`: the run ends for good, and its checkpoints go",
        on_interrupted:
          "what to do with a model call that a crash interrupted: make it again, or ask a person",
        table: "also write each run as a row of the SQLite table `checkpoints`",
        retention: "how much is kept",
        compression: "compress values",
        encryption: "encrypt values with the keys in `HOLDFAST_KEYS`",
        size_limit_mb: "the largest value",
        auto_recovery: "whether runs continue by themselves after a crash",
        max_recovery_attempts: "crashes without progress before a person is asked",
        recovery_timeout_seconds: "how long a recovered run may write nothing",
        fallback_to_previous: "use the previous checkpoint if the newest can't be read",
      },
      "workflow.checkpoint.retention": {
        max_checkpoints: "checkpoints of all runs of this workflow",
        max_age_days: "days that checkpoints and ended runs stay",
        keep_successful: "keep the latest successful run, or this many",
      },
      checkpoint_config: {
        enabled: "whether runs are saved",
        storage_path: "a folder; `{TASK}` stands for the workflow's name",
        compression: "compress values",
        encryption: "encrypt values",
        retention_days: "days that checkpoints stay",
        max_checkpoints_per_phase: "checkpoints of each phase",
        checkpoint_size_limit_mb: "the largest value",
      },
      recovery_config: {
        auto_recovery: "whether runs continue by themselves after a crash",
        max_recovery_attempts: "crashes without progress before a person is asked",
        recovery_timeout_seconds: "how long a recovered run may write nothing",
        fallback_to_previous: "use the previous checkpoint if the newest can't be read",
      },
      performance_config: {
        async_writes: "let `repeatable` steps continue while the store fails",
        batch_decisions: "no effect: decisions are saved with the events around them",
        compression_level: "how hard values are compressed",
        memory_mapped_threshold_mb: "no effect: long values are stored once and read by reference",
      },
    },
  },
  {
    title: "agent",
    about: "A model that works with tools until it has an answer. `type` may be left out.",
    example: "agent",
    blocks: {
      "agents[agent]": {
        ...STEP,
        type: "`agent`, or left out",
        provider: "another provider than the runtime's",
        model: "another model than the runtime's",
        tools: "names of tools, of `server__tool`, or of a whole server; `[]` for none",
        system_prompt: "the system text",
        prompt: "what it is asked; `!file` reads it from a file",
        output: "the fields of its answer. Without them the answer is a text, `output.result`",
        output_mode: "`raw`: a text, whatever it looks like; `envelope`: the fields of `output`",
        working_dir: "where its MCP servers are started",
        timeout_seconds: "seconds for the agent, all its turns included",
        max_session_seconds: "the same; the shorter one counts",
        max_agent_iterations: "its turns",
        retry: "how often a failed model call is made again",
        reasoning: "how hard the model should think",
        validator: "a second model that checks the answer",
        skills: "folders with a `SKILL.md`, whose text precedes the prompt; `[]` for none",
        session_key: "agents with the same key share a conversation. Not for members of groups",
        dialog: "let the agent talk to a person about its answer. Not for members of groups",
        plugins: "must be empty: plugins aren't supported",
        context_tier: "only `default` has an effect",
      },
      "agents[agent].output.*": {
        type: "the type of the field",
        description: "for the model",
        items: "of an array: what its items are",
        properties: "of an object: its fields",
        enum: "the values it may have",
        pattern: "of a string: a regular expression",
        minimum: "of a number: the least",
        maximum: "of a number: the most",
        minLength: "of a string: the fewest characters",
        maxLength: "of a string: the most characters",
        required: "whether it must be there",
        nullable: "whether it may be `null`",
      },
      "agents[agent].routes[]": {
        to: "the next agent or group, or `$end`",
        when: "a template, or a simple expression over the output, such as `score >= 8`",
        output: "the result of the workflow, if this route ends it",
      },
      "agents[agent].retry": {
        max_attempts: "calls in total",
        backoff: "how the delay grows",
        delay_seconds: "the first delay",
        retry_on: "must name both kinds",
        max_parse_recovery_attempts: "how often an answer that doesn't fit returns to the model",
      },
      "agents[agent].reasoning": { effort: "a level, or a template that renders to one" },
      "agents[agent].validator": {
        criteria: "what the answer must meet",
        model: "the model that checks it",
        max_retries: "how often the agent may improve its answer",
      },
      "agents[agent].dialog": { trigger_prompt: "when the agent should talk" },
    },
  },
  {
    title: "human_gate",
    about: "A person chooses. The run waits without a process, and the answer survives a crash.",
    example: "human-gate",
    blocks: {
      "agents[human_gate]": {
        ...STEP,
        type: "`human_gate`",
        prompt: "the question",
        options: "the choices",
        routes: "not needed: each option has its own route",
      },
      "agents[human_gate].options[]": {
        label: "what the person sees",
        value: "the choice, which `output.selected` returns",
        route: "where to continue",
        prompt_for: "ask for a text as well, under this name in `output.additional_input`",
        multiline: "whether that text may have several lines",
      },
    },
  },
  {
    title: "questions",
    about: "A person answers a list of questions, each saved when it is answered.",
    example: "questions",
    blocks: {
      "agents[questions]": {
        ...STEP,
        type: "`questions`",
        questions: "the questions; or `source`",
        source: "a path to questions that an agent wrote, such as `think.output.asks`",
        prompt: "what to say first",
        allow_back: "whether the person may return to an earlier question, and review all of them at the end",
        allow_skip: "whether a question may be skipped",
        allow_skip_all: "whether all remaining ones may be skipped",
        allow_abort: "whether the person may give up",
        abort_route: "where to continue then",
      },
      "agents[questions].questions[]": {
        id: "its name in `output.answers`",
        text: "the question",
        hint: "a hint below it",
        choices: "suggested answers",
        allow_free_text: "whether another answer is possible",
        default: "the answer if it is skipped",
        required: "whether it can't be skipped",
        multiline: "whether the answer may have several lines",
      },
    },
  },
  {
    title: "script",
    about:
      "Runs a command. It sees PATH, HOME and a few more variables, what `env` sets, and what `inherit_env` names.",
    example: "script",
    blocks: {
      "agents[script]": {
        ...STEP,
        type: "`script`",
        command: "the program",
        args: "its arguments",
        env: "environment variables to set",
        inherit_env: "environment variables to pass on. Holdfast's own key",
        working_dir: "where it runs",
        timeout: "seconds; a `once` script that is stopped waits for a person",
        stdin: "its standard input; without it there is none",
        output: "the fields of the JSON that it prints",
        effect:
          "what may happen after a crash: [effect classes](retries.md#retries-and-effects). Holdfast's own key",
      },
    },
  },
  {
    title: "set",
    about: "Binds a value, or several.",
    example: "set",
    blocks: {
      "agents[set]": {
        ...STEP,
        type: "`set`",
        value: "a template; or `values`",
        values: "several templates by name",
        output_type: "the type of `value`; `auto` reads it as YAML",
        output: "checks the fields of the result",
      },
    },
  },
  {
    title: "wait",
    about: "Waits, across crashes and deploys.",
    example: "wait",
    blocks: {
      "agents[wait]": {
        ...STEP,
        type: "`wait`",
        duration: "seconds, or a text such as `500ms`, `60s`, `2.5m` or `1h`; at most a day",
        reason: "why, for people who look at the run",
      },
    },
  },
  {
    title: "workflow as a step",
    about:
      "Runs another workflow inside this one. Its steps belong to the same run, so a resume continues in the middle of it.",
    example: "sub-workflow",
    blocks: {
      "agents[workflow]": {
        ...STEP,
        type: "`workflow`",
        workflow: "a file, or the workflow itself",
        input_mapping: "its inputs, as templates",
        max_depth: "how many workflows may be inside each other",
        output: "checks the fields of its result",
      },
    },
  },
  {
    title: "terminate",
    about: "Ends the workflow, well or not.",
    example: "terminate",
    blocks: {
      "agents[terminate]": {
        name: STEP.name,
        checkpoint: STEP.checkpoint,
        description: STEP.description,
        input: STEP.input,
        type: "`terminate`",
        status: "how the run ends",
        reason: "why, as a template",
        output_template: "the result, instead of the file's `output`",
      },
    },
  },
  {
    title: "parallel",
    about: "Runs agents side by side. Each is saved when it ends.",
    example: "parallel",
    blocks: {
      "parallel[]": {
        name: STEP.name,
        checkpoint: STEP.checkpoint,
        description: STEP.description,
        agents: "its members: at least two agents of type `agent` or `set`",
        failure_mode: FAILURE_MODE,
        routes: STEP.routes,
      },
    },
  },
  {
    title: "for_each",
    about: "Runs one agent for each item of a list. Each item is saved when it ends.",
    example: "for-each",
    blocks: {
      "for_each[]": {
        name: STEP.name,
        checkpoint: STEP.checkpoint,
        description: STEP.description,
        type: "`for_each`",
        source: "the list, as a path such as `find.output.items`",
        as: "the name of an item in templates",
        agent: "what runs for each item: a step of type `agent`, `set` or `workflow`",
        max_concurrent: "items at a time",
        failure_mode: FAILURE_MODE,
        key_by: "a path into the item; `outputs` is then a mapping by it instead of a list",
        routes: STEP.routes,
      },
    },
  },
];
