/**
 * What providers accept as a conversation, from their published rules: OpenAI's API reference (chat completions,
 * responses), Anthropic's "Tool use" and Messages reference, Google's "Function calling" guide. Each takes the body of a
 * request as it would be sent and returns what is wrong with it.
 */
type Fields = Readonly<Record<string, unknown>>;
type Check = (body: Fields) => string[];

const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? (value as Fields[]) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const isBlank = (value: unknown): boolean => text(value).trim() === "";
const LONE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** Providers refuse JSON whose texts aren't valid Unicode. */
const halves = (body: Fields): string[] => {
  const found: string[] = [];
  JSON.stringify(body, (key, value: unknown) => {
    if (typeof value === "string" && LONE.test(value)) found.push(`${key} holds half of a character`);
    return value;
  });
  return found;
};

const isJsonObject = (value: unknown): boolean => {
  try {
    const parsed: unknown = JSON.parse(text(value));
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false;
  }
};

/** Every `tool_calls` message is directly followed by one `tool` message for each id; names match `^[\w-]{1,64}$`. */
export const openAiChat: Check = (body) => {
  const problems = halves(body);
  const messages = list(body["messages"]);
  let open: string[] = [];
  const used = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const at = `message ${index}`;
    const { role, content, tool_call_id: answered } = message;
    if (role === "tool") {
      if (!open.includes(text(answered))) problems.push(`${at} answers no call of the message before it`);
      open = open.filter((id) => id !== answered);
      if (typeof content !== "string") problems.push(`${at} has no content`);
      continue;
    }
    if (open.length > 0) problems.push(`${at} comes before the results of ${open.join(", ")}`);
    const calls = list(message["tool_calls"]);
    if (role === "assistant" && calls.length === 0 && isBlank(content)) problems.push(`${at} says nothing`);
    if (role === "user" && (content === "" || content === null)) problems.push(`${at} is empty`);
    open = calls.map(({ id }) => text(id));
    for (const call of calls) {
      const { name, arguments: given } = call["function"] as Fields;
      const id = text(call["id"]);
      if (id === "" || id.length > 40) problems.push(`${at} has an id of ${id.length} characters`);
      if (used.has(id)) problems.push(`${at} uses id ${id} again`);
      used.add(id);
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(text(name))) problems.push(`${at} calls "${text(name)}"`);
      if (!isJsonObject(given)) problems.push(`${at} has arguments that are no object`);
    }
  }
  if (open.length > 0) problems.push(`no result follows for ${open.join(", ")}`);
  if (!["user", "tool"].includes(text(messages.at(-1)?.["role"]))) problems.push("nothing is left to answer");
  return problems;
};

/** Every `function_call` has one `function_call_output` with its `call_id` after it, and no output is without a call. */
export const openAiResponses: Check = (body) => {
  const problems = halves(body);
  const open = new Set<string>();
  const used = new Set<string>();
  const input = list(body["input"]);
  for (const [index, item] of input.entries()) {
    const at = `item ${index}`;
    const id = text(item["call_id"]);
    if (item["type"] === "function_call") {
      if (id === "" || id.length > 64 || used.has(id)) problems.push(`${at} has call_id "${id}"`);
      used.add(id);
      open.add(id);
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(text(item["name"])))
        problems.push(`${at} calls "${text(item["name"])}"`);
      if (!isJsonObject(item["arguments"])) problems.push(`${at} has arguments that are no object`);
    } else if (item["type"] === "function_call_output") {
      if (!open.delete(id)) problems.push(`${at}: no tool call found for call_id ${id}`);
    } else if (item["type"] === "reasoning") {
      const next = input[index + 1];
      if (!next || next["role"] === "user")
        problems.push(`${at} is reasoning without the item it belongs to`);
    } else if (open.size > 0) problems.push(`${at}: no tool output found for ${[...open].join(", ")}`);
  }
  if (open.size > 0) problems.push(`no tool output found for ${[...open].join(", ")}`);
  const last = input.at(-1);
  if (last?.["role"] !== "user" && last?.["type"] !== "function_call_output")
    problems.push("nothing is left to answer");
  return problems;
};

/**
 * Roles alternate, a user begins and ends. `tool_result` blocks come first in the message directly after their
 * `tool_use`, one for each. Text isn't blank. Ids match `^[a-zA-Z0-9_-]+$`.
 */
export const anthropic: Check = (body) => {
  const problems = halves(body);
  const messages = list(body["messages"]);
  const used = new Set<string>();
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    const blocks = list(message["content"]);
    if (message["role"] !== (index % 2 === 0 ? "user" : "assistant"))
      problems.push(`${at}: roles must alternate`);
    if (blocks.length === 0) problems.push(`${at}: content is empty`);
    const results = blocks.filter(({ type }) => type === "tool_result");
    const answered = results.map(({ tool_use_id: id }) => text(id));
    for (const id of open)
      if (!answered.includes(id)) problems.push(`${at}: tool_use ${id} has no tool_result`);
    for (const id of answered) if (!open.includes(id)) problems.push(`${at}: unexpected tool_use_id ${id}`);
    if (new Set(answered).size !== answered.length) problems.push(`${at}: two tool_results of one id`);
    if (blocks.findLastIndex(({ type }) => type === "tool_result") >= results.length)
      problems.push(`${at}: tool_result blocks must come first`);
    open = [];
    for (const block of blocks) problems.push(...anthropicBlock(block, at, used, open));
  }
  if (open.length > 0) problems.push(`no tool_result follows for ${open.join(", ")}`);
  if (messages.length % 2 === 0) problems.push("the conversation must end with a user message");
  return problems;
};

function anthropicBlock(block: Fields, at: string, used: Set<string>, open: string[]): string[] {
  if (block["type"] === "text" && isBlank(block["text"]))
    return [`${at}: text content blocks must contain non-whitespace text`];
  if (block["type"] === "thinking" && isBlank(block["signature"]))
    return [`${at}: thinking has no signature`];
  if (block["type"] !== "tool_use") return [];
  const id = text(block["id"]);
  const { name, input } = block;
  const problems = /^[a-zA-Z0-9_-]+$/.test(id) && !used.has(id) ? [] : [`${at}: tool_use.id "${id}"`];
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(text(name))) problems.push(`${at}: tool_use.name "${text(name)}"`);
  if (typeof input !== "object" || input === null || Array.isArray(input))
    problems.push(`${at}: tool_use.input should be an object`);
  used.add(id);
  open.push(id);
  return problems;
}

/**
 * A turn with function calls comes directly after a user's or a function response's, and is directly followed by as many
 * responses, by the same names. Parts aren't empty. The first call of each of Gemini 3's turns has a signature.
 */
export const google: Check = (body) => {
  const problems = halves(body);
  const contents = list(body["contents"]);
  let due: string[] = [];
  for (const [index, content] of contents.entries()) {
    const at = `contents[${index}]`;
    const parts = list(content["parts"]);
    const said = (key: string): Fields[] => parts.flatMap((part) => (part[key] ? [part[key] as Fields] : []));
    const [calls, responses] = [said("functionCall"), said("functionResponse")];
    if (parts.length === 0) problems.push(`${at} has no parts`);
    if (parts.some((part) => part["text"] === "")) problems.push(`${at} has an empty part`);
    if (content["role"] === "model" && contents[index - 1]?.["role"] !== "user")
      problems.push(`${at}: a model's turn must come after a user's or a function response's`);
    const names = responses.map(({ name }) => text(name));
    if (names.join() !== due.join())
      problems.push(
        `${at}: the function response parts must equal the function call parts: ${due.join()} / ${names.join()}`,
      );
    due = calls.map(({ name }) => text(name));
    for (const { name, args } of calls) {
      if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(text(name))) problems.push(`${at} calls "${text(name)}"`);
      if (typeof args !== "object" || args === null || Array.isArray(args)) problems.push(`${at}: args`);
    }
    const first = parts.find((part) => part["functionCall"]);
    if (first && !first["thoughtSignature"])
      problems.push(`${at}: function call is missing a thought_signature`);
  }
  if (due.length > 0) problems.push(`no response follows for ${due.join()}`);
  if (contents.at(-1)?.["role"] !== "user") problems.push("nothing is left to answer");
  return problems;
};
