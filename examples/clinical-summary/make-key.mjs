import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";

// In production the key comes from a key management service: kmsKeyring({ keyId }).
const keys = { current: "k1", keys: { k1: randomBytes(32).toString("base64") } };
writeFileSync("keys.json", JSON.stringify(keys), { mode: 0o600 });
console.log("keys.json is there, for nobody else to read.");
