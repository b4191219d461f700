import { type Act, command } from "../../acts/act.ts";
import { type AnswerOf, type ArgsOf, client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";

export type Token = AnswerOf<"listTokens">["tokens"][number];
export type Made = AnswerOf<"createToken">;
export type Role = Token["roles"][number];

export const ADMIN = "admin";
export const ROLES = [
  "viewer",
  "operator",
  "approver",
  "auditor",
  "streamer",
  "admin",
] as const satisfies readonly Role[];

const DAY = 86_400_000;
export const SPANS = { day: DAY, month: 30 * DAY, quarter: 90 * DAY, year: 365 * DAY, never: null } as const;
export type SpanName = keyof typeof SPANS;
export const SPAN_NAMES = Object.keys(SPANS) as SpanName[];

export interface TokenForm {
  readonly name: string;
  readonly roles: readonly Role[];
  readonly workflows: string;
  readonly expires: SpanName;
}

const names = (text: string): string[] =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");

/** What the API takes for a form. */
export function newToken(form: TokenForm, now: number): ArgsOf<"createToken"> {
  const workflows = names(form.workflows);
  const span = SPANS[form.expires];
  return {
    name: form.name.trim(),
    roles: [...form.roles],
    expiresAt: span === null ? null : now + span,
    ...(workflows.length === 0 ? {} : { scope: { workflows } }),
  };
}

/** The words of the command that does the same. */
export function wordsOf(form: TokenForm): string[] {
  const span = SPANS[form.expires];
  return [
    "token",
    "create",
    form.name.trim() || "<name>",
    ...form.roles.flatMap((role) => ["--role", role]),
    ...names(form.workflows).flatMap((name) => ["--workflow", name]),
    ...(span === null ? ["--never-expires"] : ["--expires", `${span / DAY}d`]),
  ];
}

const T = TEXT.settings;

export const rotateToken = ({ id, name }: Token): Act => ({
  title: T.rotate.title(name),
  effect: T.rotate.effect,
  verb: T.rotate.verb,
  reasons: T.rotate.reasons,
  permission: ADMIN,
  cli: () => command(["token", "rotate", id]),
  perform: (reason) => client.rotateToken({ token: id, reason }),
});

export const revokeToken = ({ id, name }: Token): Act => ({
  title: T.revoke.title(name),
  effect: T.revoke.effect,
  verb: T.revoke.verb,
  reasons: T.revoke.reasons,
  isDangerous: true,
  permission: ADMIN,
  cli: () => command(["token", "revoke", id]),
  perform: (reason) => client.revokeToken({ token: id, reason }),
});
