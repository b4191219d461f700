import type { EffectConcern, EffectRoot } from "../reports/effects.ts";

/** The root cause of a finding, and what keeps it from happening again. */
export interface RootCause {
  readonly why: string;
  readonly remedy: string;
}

export const ROOT_CAUSES: Readonly<Record<EffectRoot, RootCause>> = {
  "worker lost": {
    why: "The process that made the call died or lost the run before the outcome was recorded.",
    remedy: "Find out why the worker was lost: see the recovery incident of the same run.",
  },
  "no answer": {
    why: "The call ended without saying whether it was carried out: a time-out or a cut connection.",
    remedy:
      "Give the step a verify hook that asks the receiver, or make it keyed if the receiver recognises keys.",
  },
  fork: {
    why: "A person forked a run and chose to have its effects repeated.",
    remedy: "Fork with effects reused or simulated unless the repetition is wanted.",
  },
  model: {
    why: "The model of an agent asked for the same call with the same arguments again, and a person allowed it.",
    remedy: "Check what the tool tells the model after its first call, and what the approval showed.",
  },
  person: {
    why: "A person had the call made again while its outcome was unknown, and the first one had succeeded.",
    remedy: "Ask the receiver before a step is run again, or give the step a verify hook.",
  },
  arguments: {
    why: "The arguments or the key of the call differed between two attempts of the same intent.",
    remedy: "Declare everything that the call sends as the step's input, and take the key from the step.",
  },
  engine: {
    why: "The record shows a call after its recorded outcome, and nothing outside explains it.",
    remedy: "Report it as a defect, with the trail of the run.",
  },
};

/** What each concern means, for readers who see the word for the first time. */
export const CONCERNS: Readonly<Record<EffectConcern, string>> = {
  unknown: "The call was begun and no outcome was recorded.",
  "called again": "A second call was made while the outcome of the first was unknown, under the same key.",
  "repeated by a fork": "A fork was told to repeat the calls of its source.",
  "asked for again": "A model asked for an equal call a second time, and a person allowed it.",
  "carried out twice": "The effect happened twice.",
  "other key": "A second call of the same intent carried another key or other arguments.",
  "after its end": "The call was made although its outcome was recorded.",
};
