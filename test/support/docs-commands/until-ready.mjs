// Runs a command that serves until it is stopped: ends it by SIGTERM once it says that it is ready.
import { spawn } from "node:child_process";

const [ready = "", ...args] = process.argv.slice(2);
const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
let said = "";
for (const stream of [child.stdout, child.stderr])
  stream.on("data", (data) => {
    const wasReady = said.includes(ready);
    said += String(data);
    if (!wasReady && said.includes(ready)) child.kill("SIGTERM");
  });
child.on("close", (code) => {
  process.stderr.write(said);
  process.exitCode = said.includes(ready) ? (code ?? 1) : 1;
});
