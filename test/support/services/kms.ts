import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A stand-in for AWS KMS that speaks its JSON protocol on loopback and really encrypts. */
export interface KmsStandIn {
  readonly endpoint: string;
  /** The requests, in order. */
  readonly calls: readonly { readonly action: string; readonly body: Readonly<Record<string, unknown>> }[];
  /** The answer to give instead, until it is `null` again. `silent`: no answer. */
  fault: { readonly status: number; readonly type: string } | "silent" | null;
  /** Disabled keys. */
  readonly disabled: Set<string>;
  close(): Promise<void>;
}

interface Asked {
  readonly KeyId: string;
  readonly Plaintext?: string;
  readonly CiphertextBlob?: string;
  readonly EncryptionContext?: Readonly<Record<string, string>>;
}

const keyOf = (id: string) => createHash("sha256").update(`kms key ${id}`).digest();
const about = (context: Asked["EncryptionContext"]) =>
  Buffer.from(
    JSON.stringify(
      Object.keys(context ?? {})
        .sort()
        .map((name) => [name, context?.[name]]),
    ),
  );

function encrypt({ KeyId, Plaintext = "", EncryptionContext }: Asked): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", keyOf(KeyId), iv).setAAD(about(EncryptionContext));
  const body = Buffer.concat([cipher.update(Plaintext, "base64"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64");
}

function decrypt({ KeyId, CiphertextBlob = "", EncryptionContext }: Asked): string | null {
  const bytes = Buffer.from(CiphertextBlob, "base64");
  const cipher = createDecipheriv("aes-256-gcm", keyOf(KeyId), bytes.subarray(0, 12));
  cipher.setAAD(about(EncryptionContext)).setAuthTag(bytes.subarray(12, 28));
  try {
    return Buffer.concat([cipher.update(bytes.subarray(28)), cipher.final()]).toString("base64");
  } catch {
    return null;
  }
}

export async function startKms(): Promise<KmsStandIn> {
  const calls: { action: string; body: Readonly<Record<string, unknown>> }[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece: Buffer) => (text += piece.toString()));
    request.on("end", () => {
      const answer = (status: number, content: object) =>
        response
          .writeHead(status, { "content-type": "application/x-amz-json-1.1" })
          .end(JSON.stringify(content));
      const fail = (status: number, type: string) =>
        answer(status, { __type: type, message: `as planned: ${type}` });
      const action = String(request.headers["x-amz-target"]).replace("TrentService.", "");
      const asked = JSON.parse(text) as Asked;
      calls.push({ action, body: { ...asked } });
      const { fault } = kms;
      if (fault === "silent") return;
      if (fault) return void fail(fault.status, fault.type);
      if (kms.disabled.has(asked.KeyId)) return void fail(400, "DisabledException");
      if (action === "Encrypt")
        return void answer(200, { KeyId: asked.KeyId, CiphertextBlob: encrypt(asked) });
      const plain = decrypt(asked);
      if (plain === null) return void fail(400, "InvalidCiphertextException");
      return void answer(200, { KeyId: asked.KeyId, Plaintext: plain });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const kms: KmsStandIn = {
    endpoint: `http://127.0.0.1:${port}`,
    calls,
    fault: null,
    disabled: new Set(),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return kms;
}
