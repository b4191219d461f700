import { z } from "zod";
import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { StartDefaults } from "../../core/options.ts";
import { checkAlone } from "../../core/run/given.ts";
import { checkTags } from "../../core/tags.ts";
import { waitMs } from "../duration.ts";
import { isTemplate } from "../template/template.ts";
import { span } from "./fields.ts";

const fields = z.strictObject({
  queue: z.string().nullish(),
  key: z.string().nullish(),
  priority: z.int().nullish(),
  singleton: z.enum(["join", "refuse"]).nullish(),
  debounce: span.nullish(),
});

export type StartFields = z.infer<typeof fields>;

/** How runs of the file start. The engine's own rules check it, so both say the same. */
export const start = fields.superRefine((given, issues) => {
  try {
    const key = given.key && isTemplate(given.key) ? "known at the start" : (given.key ?? undefined);
    const options = startDefaults(given, key);
    checkTags(options);
    checkAlone(options);
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    issues.addIssue({ code: "custom", message: error.message });
  }
});

/** The engine's options for what a file says, with the key of one run. */
export function startDefaults(
  { queue, priority, singleton, debounce }: StartFields,
  key: string | undefined,
): StartDefaults {
  const debounceMs = debounce === null || debounce === undefined ? undefined : waitMs(debounce);
  return defined({
    queue: queue ?? undefined,
    key,
    priority: priority ?? undefined,
    singleton: singleton ?? undefined,
    debounceMs,
  });
}
