export { type HttpServer, McpError, type McpServer, type StdioServer } from "./servers.ts";
export { type McpOptions, type McpTools, mcpTools } from "./tools.ts";
