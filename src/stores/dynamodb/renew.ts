import type { Renewal } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { isNamed } from "./errors.ts";
import { Expression } from "./expression.ts";
import { rowKey, toItem } from "./keys.ts";
import { each } from "./reading.ts";
import { setUntil, toRow } from "./rows.ts";
import type { Service } from "./service.ts";

const AT_ONCE = 16;

/** Sends one conditional write per claim. Repeating it after a lost response sets the same values again. */
export function renewBatch(
  service: Service,
  now: () => number,
  batch: readonly Renewal[],
): Promise<readonly (RunRow | null)[]> {
  return each(batch, AT_ONCE, async ({ runId, epoch, token, ttlMs }) => {
    const expression = new Expression();
    setUntil(expression, now() + ttlMs);
    const needs = [
      expression.compare("token", "=", { S: token }),
      expression.compare("epoch", "=", { N: String(epoch) }),
    ];
    try {
      const { Attributes } = await service.update({
        Key: toItem(rowKey(runId)),
        UpdateExpression: expression.update,
        ConditionExpression: needs.join(" AND "),
        ReturnValues: "ALL_NEW",
        ...expression.attributes,
      });
      return Attributes ? toRow(Attributes) : null;
    } catch (error) {
      if (isNamed(error, "ConditionalCheckFailedException")) return null;
      throw error;
    }
  });
}
