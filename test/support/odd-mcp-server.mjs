/**
 * An MCP server that implements the protocol by hand, and oddly: it never introduces itself (`silent`), starts slowly
 * (`slow:<ms>`), answers with nothing (`null`), with too much (`large`), or with its own error (`error:<code>`).
 */
const [mode = "", amount = "0"] = (process.argv[2] ?? "").split(":");

/** @type {(id: number, body: object) => void} */
const say = (id, body) => void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
const tool = { name: "do", inputSchema: { type: "object" } };

/** @type {Record<string, (id: number, params: { protocolVersion?: string, arguments?: { die?: boolean } }) => void>} */
const answers = {
  initialize(id, { protocolVersion }) {
    const serverInfo = { name: "odd", version: "1" };
    const result = { protocolVersion, capabilities: { tools: {} }, serverInfo };
    setTimeout(() => say(id, { result }), mode === "slow" ? Number(amount) : 0);
  },
  "tools/list": (id) => say(id, { result: { tools: [tool] } }),
  "tools/call"(id, params) {
    if (params.arguments?.die) process.kill(process.pid, "SIGKILL");
    const text = mode === "large" ? "x".repeat(12 * 1024 * 1024) : "did it";
    if (mode === "error") say(id, { error: { code: Number(amount), message: "it went wrong" } });
    else say(id, { result: mode === "null" ? null : { content: [{ type: "text", text }] } });
  },
};

let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + String(chunk)).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id, method, params = {} } = line.trim() === "" ? {} : JSON.parse(line);
    if (id === undefined || mode === "silent") continue;
    const answer = answers[method];
    if (answer) answer(id, params);
    else say(id, { error: { code: -32601, message: "not known" } });
  }
});
