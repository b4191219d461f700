import type { KeyObject } from "node:crypto";
import { nodeModule } from "../../platform.ts";

/** The primitives that audit proofs are made of: SHA-256 and Ed25519 as the platform has them. */

const crypto = () => nodeModule("node:crypto");

/** SHA-256 of bytes, or of a text as UTF-8. */
export const sha256 = (data: string | Uint8Array): Buffer => crypto().hash("sha256", data, "buffer");

const privatePrefix = () => Buffer.from("302e020100300506032b657004220420", "hex");
const publicPrefix = () => Buffer.from("302a300506032b6570032100", "hex");

const privateKey = (seed: Uint8Array): KeyObject =>
  crypto().createPrivateKey({ key: Buffer.concat([privatePrefix(), seed]), format: "der", type: "pkcs8" });

/** The public key of a 32-byte Ed25519 seed. */
export const publicKeyOf = (seed: Uint8Array): Buffer =>
  crypto()
    .createPublicKey(privateKey(seed))
    .export({ format: "der", type: "spki" })
    .subarray(publicPrefix().length);

/** A function that signs with a 32-byte Ed25519 seed. */
export function ed25519Signer(seed: Uint8Array): (bytes: Uint8Array) => Uint8Array {
  const key = privateKey(seed);
  return (bytes) => crypto().sign(null, bytes, key);
}

/** Keys that were used before: making one takes longer than using it. */
const known = new Map<string, KeyObject>();

function publicKeyObject(bytes: Uint8Array): KeyObject {
  const name = Buffer.from(bytes).toString("hex");
  const key =
    known.get(name) ??
    crypto().createPublicKey({ key: Buffer.concat([publicPrefix(), bytes]), format: "der", type: "spki" });
  if (known.size > 100) known.clear();
  known.set(name, key);
  return key;
}

/** True when the signature is that of the holder of this public key. */
export function isSignedBy(publicKey: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean {
  try {
    return crypto().verify(null, bytes, publicKeyObject(publicKey), signature);
  } catch {
    return false;
  }
}
