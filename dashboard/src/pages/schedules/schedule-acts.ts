import { type Act, command } from "../../acts/act.ts";
import { type AnswerOf, client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";

export type Schedule = AnswerOf<"listSchedules">["schedules"][number];

export const MANAGE = "flow:manage";

type Verb = "pause" | "resume" | "trigger" | "remove";

const act = (schedule: Schedule, verb: Verb, perform: Act["perform"]): Act => ({
  title: TEXT.schedules[verb].title(schedule.name),
  effect: TEXT.schedules[verb].effect,
  verb: TEXT.schedules[verb].verb,
  reasons: TEXT.schedules[verb].reasons,
  cli: (reason) => command(["schedules", verb === "remove" ? "delete" : verb, schedule.name], reason),
  permission: MANAGE,
  isDangerous: verb === "remove",
  perform,
});

export const pauseSchedule = (one: Schedule): Act =>
  act(one, "pause", (reason) => client.pauseSchedule({ name: one.name, version: one.version, reason }));

export const resumeSchedule = (one: Schedule): Act =>
  act(one, "resume", (reason) => client.resumeSchedule({ name: one.name, version: one.version, reason }));

export const triggerSchedule = (one: Schedule): Act =>
  act(one, "trigger", (reason) => client.triggerSchedule({ name: one.name, reason }));

export const deleteSchedule = (one: Schedule): Act =>
  act(one, "remove", (reason) => client.deleteSchedule({ name: one.name, version: one.version, reason }));
