import { nodeModule } from "./platform.ts";

/** The most memory that this process has used so far, in megabytes. */
export const memoryPeakMb = (): number => nodeModule("node:process").resourceUsage().maxRSS / 1_024;
