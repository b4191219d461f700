import { entries, UNCHANGED } from "./entry.ts";

/** 615x: evidence for auditors. 616x: assistants over MCP. */
export const evidenceErrors = entries({
  "HF-6150": {
    what: "{file} can't be included as a recovery drill: {problem}.",
    why: "Only the JSON report of a crash test has the figures that evidence needs.",
    safe: UNCHANGED,
    fix: "holdfast crash-test <workflow> --report json=drill.json",
  },
  "HF-6151": {
    what: "{file} can't be checked: {problem}.",
    why: "Signed evidence is a note that lists its files with their SHA-256, beside those files.",
    safe: UNCHANGED,
    fix: "Unpack the whole bundle into one folder, then: holdfast report verify <file>.note --key <public-key>",
  },
  "HF-6160": {
    what: "{tool} needs a person's consent, and this client can't ask for it.",
    why: "The client doesn't support elicitation, so nobody would see what the assistant is about to do.",
    safe: UNCHANGED,
    fix: "Use a client that supports MCP elicitation, do it yourself in the dashboard or on the command line, or, if the client shows every call to a person before it is sent, start the server with: holdfast mcp --allow write --role operator --consent client",
  },
  "HF-6161": {
    what: "The consent doesn't belong to this call of {tool}.",
    why: "A person agreed to other arguments, or too long ago, or this server never asked.",
    safe: UNCHANGED,
    fix: "Call {tool} again without an answer, so that the person is asked about exactly this.",
  },
  "HF-6162": {
    what: "The server at {url} can't be used: {problem}.",
    why: "holdfast mcp --server asks it who the token in HOLDFAST_TOKEN belongs to.",
    safe: UNCHANGED,
    fix: "Check the address, and that HOLDFAST_TOKEN is a token of that server.",
  },
});
