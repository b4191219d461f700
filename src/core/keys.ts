/** Step names that begin so are the engine's. */
const APPROVAL = "approve:";

/** Two signs, since `pay#2` is the second step of that name, not the second attempt. */
export const approvalName = (name: string, attempt: number): string =>
  `${APPROVAL}${name}${attempt > 1 ? `##${attempt}` : ""}`;

/** Whether a step is the question to a person before a call. */
export const isApproval = (key: string): boolean => key.slice(key.lastIndexOf("/") + 1).startsWith(APPROVAL);
