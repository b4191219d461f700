// Loaded by Temporal's workers, clients and bundler by its path: messages and stacks of failures become payloads, which the codec seals.
import { DefaultFailureConverter } from "@temporalio/common";

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
