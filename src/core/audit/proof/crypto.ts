import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from "node:crypto";

/** The primitives that audit proofs are made of: SHA-256 and Ed25519 as the platform has them. */

/** SHA-256 of bytes, or of a text as UTF-8. */
export const sha256 = (data: string | Uint8Array): Buffer => hash("sha256", data, "buffer");

const PRIVATE_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

const privateKey = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, seed]), format: "der", type: "pkcs8" });

/** The public key of a 32-byte Ed25519 seed. */
export const publicKeyOf = (seed: Uint8Array): Buffer =>
  createPublicKey(privateKey(seed)).export({ format: "der", type: "spki" }).subarray(PUBLIC_PREFIX.length);

/** A function that signs with a 32-byte Ed25519 seed. */
export function ed25519Signer(seed: Uint8Array): (bytes: Uint8Array) => Uint8Array {
  const key = privateKey(seed);
  return (bytes) => sign(null, bytes, key);
}

/** Keys that were used before: making one takes longer than using it. */
const known = new Map<string, KeyObject>();

function publicKeyObject(bytes: Uint8Array): KeyObject {
  const name = Buffer.from(bytes).toString("hex");
  const key =
    known.get(name) ??
    createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, bytes]), format: "der", type: "spki" });
  if (known.size > 100) known.clear();
  known.set(name, key);
  return key;
}

/** True when the signature is that of the holder of this public key. */
export function isSignedBy(publicKey: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean {
  try {
    return verify(null, bytes, publicKeyObject(publicKey), signature);
  } catch {
    return false;
  }
}
