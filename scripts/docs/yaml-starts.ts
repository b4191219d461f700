import type { Section } from "./yaml-section.ts";

/** When and how runs of a file start. */
export const STARTS: readonly Section[] = [
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
        debounce: "begins once this long has passed without another start of the key; the last input counts",
      },
    },
  },
];
