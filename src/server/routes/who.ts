import { defined } from "../../core/defined.ts";
import type { Call } from "../call.ts";
import type { OperationId } from "../contract/paths.ts";

/** Who acts, and why, for acts that belong to no run. */
export const who = ({ act: { actor, reason } }: Pick<Call<OperationId>, "act">) => ({
  actor,
  ...defined({ reason }),
});
