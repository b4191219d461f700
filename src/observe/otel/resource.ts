import type { Resource } from "@opentelemetry/resources";
import { peers } from "./peers.ts";

/** Describes this process. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` come before what is given. */
export async function resourceOf(service: string | undefined): Promise<Resource> {
  const {
    defaultResource,
    detectResources,
    envDetector,
    hostDetector,
    processDetector,
    resourceFromAttributes,
  } = await peers.resources();
  const found = detectResources({ detectors: [hostDetector, processDetector, envDetector] });
  await found.waitForAsyncAttributes?.();
  return defaultResource()
    .merge(resourceFromAttributes({ "service.name": service ?? "holdfast" }))
    .merge(found);
}
