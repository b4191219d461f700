import { entries, UNCHANGED } from "./entry.ts";

/** 60xx: what the management API refuses, and what it could not answer. */
export const serverErrors = entries({
  "HF-6000": {
    what: "The server could not answer this request.",
    why: "An unexpected error occurred. The server's log has it under {id}.",
    safe: "What the store has acknowledged is kept. Whether this request changed something is unknown: look at the run before you repeat it, or repeat it with the same Idempotency-Key.",
    fix: "Look for {id} in the server's log.",
  },
  "HF-6001": {
    what: "There is nothing at this address.",
    why: "The API has no operation with this path.",
    safe: UNCHANGED,
    fix: "GET /v1/openapi.json lists every operation, and /v1/docs shows them.",
  },
  "HF-6002": {
    what: "This address doesn't support the method.",
    why: "The address takes {allow}.",
    safe: UNCHANGED,
    fix: "GET /v1/openapi.json lists every operation, and /v1/docs shows them.",
  },
  "HF-6003": {
    what: "The body has a content type that this operation does not take.",
    why: "It takes {type}.",
    safe: UNCHANGED,
    fix: "Send the header Content-Type: {type}.",
  },
  "HF-6004": {
    what: "The request is not valid: {problems}.",
    why: "It does not have the form that the API describes for this operation.",
    safe: UNCHANGED,
    fix: "Compare it with the operation in /v1/openapi.json.",
  },
  "HF-6005": {
    what: "The body isn't JSON that the server accepts.",
    why: "It is not valid JSON, or has a key that would change how objects behave.",
    safe: UNCHANGED,
    fix: "Send one JSON object in UTF-8.",
  },
  "HF-6006": {
    what: "The body is too large.",
    why: "This operation takes at most {limit} bytes.",
    safe: UNCHANGED,
    fix: "Send less.",
  },
  "HF-6007": {
    what: "Run {run} has moved on from #{seen}; it is at #{seq} now.",
    why: "Meanwhile: {meanwhile}.",
    safe: UNCHANGED,
    fix: "Read the run again, decide again, and send the position that you see then.",
  },
  "HF-6008": {
    what: "This Idempotency-Key belongs to another request.",
    why: "A key stands for one request, and this one has another method, address or body.",
    safe: UNCHANGED,
    fix: "Send a new key for a new request.",
  },
  "HF-6009": {
    what: "The same request is being carried out.",
    why: "Another request with this Idempotency-Key began a moment ago and has not been answered yet.",
    safe: "It is carried out once.",
    fix: "Send it again in {seconds} s to get its answer.",
  },
  "HF-6010": {
    what: "The header {header} is not valid.",
    why: "{problem}",
    safe: UNCHANGED,
    fix: "{fix}",
  },
  "HF-6011": {
    what: "This store keeps no {what}.",
    why: "The {store} store can't keep anything that doesn't belong to a run.",
    safe: UNCHANGED,
    fix: "Use a store that has one, such as SQLite or PostgreSQL.",
  },
  "HF-6012": {
    what: "The store isn't responding.",
    why: "The server's log says why, under {id}.",
    safe: "What the store has acknowledged is kept. A request that was under way may have been written: repeat it with the same Idempotency-Key.",
    fix: "Try again in a moment.",
  },
  "HF-6013": {
    what: "The plan is not the one that was shown.",
    why: "{why}",
    safe: UNCHANGED,
    fix: "Make a new plan, look at it, and resume with its token.",
  },
  "HF-6015": {
    what: "There is no {what} {name}.",
    why: "Nothing with this name is stored.",
    safe: UNCHANGED,
    fix: "List what is there.",
  },
  "HF-6016": {
    what: "The run would be outside of what this credential is for.",
    why: "The credential is only for runs with {needs}.",
    safe: UNCHANGED,
    fix: "Start the run with these, or use another credential.",
  },
  "HF-6020": {
    what: "The server is busy.",
    why: "It works on {limit} requests already, as many as it takes at once.",
    safe: UNCHANGED,
    fix: "Try again in a second. If it stays busy, start another server on the same store.",
  },
  "HF-6030": {
    what: "The view {name} belongs to {owner}.",
    why: "Only the person who saved a view, or an admin, may change or delete it.",
    safe: UNCHANGED,
    fix: "Save yours under another name.",
  },
  "HF-6080": {
    what: "The edits can't be read.",
    why: "{why}",
    safe: UNCHANGED,
    fix: 'Give plain JSON. An object with the key "$" is written as {"$":["Object",[["$",…]]]}.',
  },
  "HF-6220": {
    what: "There is nothing at this address.",
    why: "These routes have runs, their streams, signals and gates: /{run}, /{run}/streams/{name}, /{run}/signals/{name}, /{run}/gates/{name}.",
    safe: UNCHANGED,
    fix: "Compare address and method with these, and the path that workflowRoutes was given with where it is mounted.",
  },
  "HF-6221": {
    what: "This request may not {verb} here.",
    why: "The application's own allow function refused it.",
    safe: UNCHANGED,
    fix: "Sign in as somebody who may, or change allow.",
  },
  "HF-6222": {
    what: "The request is not valid: {problem}.",
    why: "A wait is a number of seconds; an answer names the choice, and may have a text and data.",
    safe: UNCHANGED,
    fix: "Send it in this form.",
  },
});
