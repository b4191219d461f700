import type { TemporalHost } from "../adapters/temporal/index.ts";
import type { Logger } from "../core/logger.ts";
import { ownerName } from "./owner.ts";

const isTemporal = (url: string): boolean => /^temporal:/i.test(url);

/** The host for an address of Temporal; `undefined` for that of a store. */
export async function temporalAt(url: string, logger: Logger): Promise<TemporalHost | undefined> {
  if (!isTemporal(url)) return undefined;
  const { temporalAddress, temporalHost } = await import("../adapters/temporal/index.ts");
  return temporalHost({ ...temporalAddress(url), owner: ownerName(), logger });
}
