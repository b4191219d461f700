import { entries, UNCHANGED } from "./entry.ts";

/** 50xx: workers and starts. 51xx: schedules, rate limits and queues. */
export const flowErrors = entries({
  "HF-5000": {
    what: "The {store} store keeps no list of workers.",
    why: "Workers register as documents, and this store keeps none.",
    safe: "Nothing was changed. Runs are advanced all the same: they depend on claims alone.",
    fix: "Use one of Holdfast's own stores to list workers.",
  },
  "HF-5001": {
    what: "No worker knows workflow {workflow}.",
    why: "This process doesn't have its code, and no live worker of this store has registered it.",
    safe: UNCHANGED,
    fix: "Start a worker that has it (holdfast worker <files…>), and check the name: holdfast workers.",
  },
  "HF-5002": {
    what: "Workflow {workflow} can't be started by its name here.",
    why: "Its code checks the input or decides by it how the run starts, and this process doesn't have the code.",
    safe: UNCHANGED,
    fix: "Start the run where the workflow's code is, or give this process the code: holdfast serve <files…>.",
  },
  "HF-5060": {
    what: "There is a run of {workflow} with key {key} already: {run}.",
    why: "It hasn't ended, and the start asked for a run that is alone with its key.",
    safe: UNCHANGED,
    fix: 'Wait until it has ended, or start with singleton: "join" to get that run.',
  },
  "HF-5061": {
    what: "The {store} store can't keep a run alone with its key.",
    why: "It can't look for other runs and create one in one transaction.",
    safe: UNCHANGED,
    fix: "Keep such runs in SQLite, PostgreSQL, PGlite, files or a Redis that is no cluster, or start them without singleton and debounceMs.",
  },
  "HF-5100": {
    what: "There is no {kind} named {name}.",
    why: "The store holds no {kind} with this name.",
    safe: UNCHANGED,
    fix: "Check the name and the store; list what is there.",
  },
  "HF-5101": {
    what: "{line} is not a valid cron line.",
    why: "{problem}",
    safe: UNCHANGED,
    fix: "Write five fields (minute, hour, day of month, month, day of week), or six with seconds first.",
  },
  "HF-5102": {
    what: "{zone} is not a known time zone.",
    why: "Time zones have names such as Europe/Berlin or America/New_York.",
    safe: UNCHANGED,
    fix: "Use a name from the IANA time zone database.",
  },
  "HF-5103": {
    what: "Schedule {name} would never tick.",
    why: "All of its moments are in the past.",
    safe: UNCHANGED,
    fix: "Choose a moment in the future, or a later endAt.",
  },
  "HF-5104": {
    what: "A {kind} named {name} already exists.",
    why: "Names are unique within a store.",
    safe: UNCHANGED,
    fix: "Update it, or choose another name.",
  },
  "HF-5105": {
    what: "This range holds more than {most} ticks of schedule {name}.",
    why: "One call starts at most {most} runs.",
    safe: UNCHANGED,
    fix: "Ask for shorter ranges, one after another. A tick that has a run doesn't get a second one.",
  },
  "HF-5106": {
    what: "This process has no code for workflow {workflow}.",
    why: "A run starts with the version and the checks of its workflow, which only its code knows.",
    safe: UNCHANGED,
    fix: "Register the workflow with this engine, or start the run where it is registered.",
  },
  "HF-5107": {
    what: "This store cannot keep schedules, limits or queues.",
    why: "It has no documents ({store}).",
    safe: UNCHANGED,
    fix: "Use one of the built-in stores, or add documents to your own.",
  },
  "HF-5108": {
    what: "The {kind} {name} has changed since you read it.",
    why: "Its version is {version}, and you expect {expected}.",
    safe: UNCHANGED,
    fix: "Read it again, and repeat your change if it still makes sense.",
  },
  "HF-5109": {
    what: "Schedule {name} could not start its run.",
    why: "{why}",
    safe: "Runs that it started before are not affected.",
    fix: "Correct the schedule's input or options with an update, then try again.",
  },
  "HF-5110": {
    what: "The {kind} {name} could not be changed.",
    why: "Others changed it at the same moment, {tries} times in a row.",
    safe: UNCHANGED,
    fix: "Try again. If it keeps happening, let fewer processes write to it.",
  },
  "HF-5111": {
    what: "The {kind} {name} cannot be read.",
    why: "What the store holds does not have the expected form: a newer version wrote it, or it is damaged.",
    safe: "It was left as it is. Runs are not affected.",
    fix: "Update this process. If it is damaged, delete it and create it again.",
  },
  "HF-5112": {
    what: "The {kind} {name} is too large.",
    why: "It has {size} characters with its input; the limit is {limit}.",
    safe: UNCHANGED,
    fix: "Keep large data elsewhere, and pass a reference to it.",
  },
  "HF-5120": {
    what: "There is no rate limit named {name}.",
    why: "A step names it, and it was neither declared in code nor set by an operator.",
    safe: "The step was not called.",
    fix: "Declare it with the engine's rateLimits, or set it with engine.rateLimits.set.",
  },
  "HF-5121": {
    what: "Rate limit {name} can never grant {asked} tokens at once.",
    why: "It allows {most} tokens per period.",
    safe: "The step was not called.",
    fix: "Ask for fewer tokens in one call, or raise the limit.",
  },
  "HF-5122": {
    what: "{step} waits for rate limit {name}.",
    why: "What the limit allows per period is used up, or its receiver asked to wait.",
    safe: "The step was not called.",
    fix: "You don't have to do anything: it continues by itself. Raise the limit to let more through.",
  },
});
