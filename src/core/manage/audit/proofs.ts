/** What signs the log, and proves what was signed. */
export { anchorStates, sendToAnchors } from "../../audit/anchors.ts";
export { parseHeads } from "../../audit/proof/checkpoint.ts";
export { inclusionProof, leafHash } from "../../audit/proof/merkle.ts";
export { rotateKey, signHead } from "../../audit/sign.ts";
export { listActs } from "./acts.ts";
export { exportLog } from "./export-log.ts";
export { verifyLog } from "./verify-log.ts";
