import type { Talk } from "../talk.ts";

type Status = string | { readonly type: string } | undefined;

/** The `toolApproval` of AI SDK 7: a function for all tools, or for each a status or a function. */
export type ToolApproval = ((options: never) => unknown) | Readonly<Record<string, unknown>>;

/**
 * Makes the same decisions, except that the run asks for a person's approval: the SDK would end the answer there and
 * forget it with the process.
 */
export function askedByRun(talk: Talk, approval: ToolApproval): ToolApproval {
  if (typeof approval === "function")
    return async (options: { readonly toolCall: { readonly toolCallId: string } }) =>
      taken(talk, options.toolCall.toolCallId, (await approval(options as never)) as Status);
  const each = Object.entries(approval).map(([tool, rule]) => [
    tool,
    async (input: unknown, options: { readonly toolCallId: string }) => {
      const status: unknown = typeof rule === "function" ? await rule(input, options) : rule;
      return taken(talk, options.toolCallId, status as Status);
    },
  ]);
  return Object.fromEntries(each) as ToolApproval;
}

function taken(talk: Talk, toolCallId: string, status: Status): Status {
  if ((typeof status === "object" ? status.type : status) !== "user-approval") return status;
  talk.toApprove.add(toolCallId);
  return "not-applicable";
}
