import { resourceUsage } from "node:process";

/** The most memory that this process has used so far, in megabytes. */
export const memoryPeakMb = (): number => resourceUsage().maxRSS / 1_024;
