import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { messageOf } from "../modules.ts";

type Sign = (digest: string) => string;
type Verify = (digest: string, signature: string) => boolean;

/** Signs with the private key in a PEM file. */
export function signer(file: string, cwd: string): Sign {
  const key = readKey(file, cwd, createPrivateKey);
  return (digest) => sign(null, Buffer.from(digest), key).toString("base64url");
}

/** Checks with the public key in a PEM file. */
export function verifier(file: string, cwd: string): Verify {
  const key = readKey(file, cwd, createPublicKey);
  return (digest, signature) => verify(null, Buffer.from(digest), key, Buffer.from(signature, "base64url"));
}

function readKey(file: string, cwd: string, read: (pem: Buffer) => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = read(readFileSync(resolve(cwd, file)));
  } catch (error) {
    throw new HoldfastError("HF-4357", { file, problem: messageOf(error) });
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new HoldfastError("HF-4357", {
    file,
    problem: `it is of kind ${key.asymmetricKeyType ?? "unknown"}`,
  });
}
