import { entries, UNCHANGED } from "./entry.ts";

/** Who may call the server, and what it refuses before anything is done. */
export const accessErrors = entries({
  "HF-6050": {
    what: "You aren't signed in.",
    why: "The request has no credential, or one that isn't valid here: unknown, expired or revoked.",
    safe: UNCHANGED,
    fix: "Send a valid token: Authorization: Bearer hf_… (holdfast token create makes one).",
  },
  "HF-6051": {
    what: "{actor} may not do this.",
    why: "It needs the permission {permission}.",
    safe: UNCHANGED,
    fix: "Ask an administrator for a token whose role has it (docs/access.md lists them).",
  },
  "HF-6052": {
    what: "{actor} may not answer the gate {gate} of run {run}.",
    why: "Somebody else must answer it: {actor} started the run.",
    safe: "The gate is still open.",
    fix: "Let another approver answer it.",
  },
  "HF-6053": {
    what: "The address of this request contains a credential.",
    why: "Addresses end up in logs, histories and Referer headers, so a credential in one counts as leaked.",
    safe: UNCHANGED,
    fix: "Send it in a header, Authorization: Bearer hf_…, and revoke the one that was sent: holdfast token revoke <id>.",
  },
  "HF-6054": {
    what: "This server doesn't answer to the name in the Host header.",
    why: "A page that points its own name at this machine could otherwise use the server (DNS rebinding).",
    safe: UNCHANGED,
    fix: "Use an address the server listens on, or allow the name: holdfast serve --allow-host <name>.",
  },
  "HF-6055": {
    what: "Requests from this web page aren't accepted.",
    why: "It belongs to another origin, and other origins aren't allowed unless they are listed.",
    safe: UNCHANGED,
    fix: "List the exact origin: holdfast serve --allow-origin https://….",
  },
  "HF-6056": {
    what: "The request doesn't prove that it comes from the dashboard.",
    why: "A browser sends the session cookie by itself, so an act needs the header X-Holdfast-CSRF as well.",
    safe: UNCHANGED,
    fix: "Send the csrf value that GET /v1/session returns, or use a token instead of a cookie.",
  },
  "HF-6057": {
    what: "Too many requests.",
    why: "The limit for one {who} is reached.",
    safe: UNCHANGED,
    fix: "Try again in {seconds} s.",
  },
  "HF-6059": {
    what: "The server doesn't listen on {host}.",
    why: "Everybody who can reach this address could read tokens off the network: it isn't a loopback address, and neither TLS nor a proxy protects it.",
    safe: "Nothing was started.",
    fix: "Give a certificate (--tls-cert, --tls-key), or say that a proxy does it (--behind-proxy).",
  },
  "HF-6060": {
    what: "The server doesn't start: nobody could sign in.",
    why: "{why}",
    safe: "Nothing was started.",
    fix: "{fix}",
  },
  "HF-6061": {
    what: "There is no token {token}.",
    why: "Tokens are found by their id or their name.",
    safe: UNCHANGED,
    fix: "See them all: holdfast token list.",
  },
  "HF-6062": {
    what: "The token can't be made: {problem}.",
    why: "{why}",
    safe: UNCHANGED,
    fix: "{fix}",
  },
  "HF-4366": {
    what: "Several tokens are called {name}.",
    why: "After a rotation the old and the new one share a name for a while. They are {ids}.",
    safe: UNCHANGED,
    fix: "Name the one you mean by its id, such as holdfast token revoke <id>. holdfast token list shows them all.",
  },
  "HF-6063": {
    what: "OpenID Connect isn't configured correctly: {problem}.",
    why: "{why}",
    safe: "Nothing was started.",
    fix: "{fix}",
  },
  "HF-6064": {
    what: "Values are shown only with a reason.",
    why: "Reading them is recorded in the run's journal, together with the reason.",
    safe: UNCHANGED,
    fix: "Say why: the header X-Holdfast-Reason, or ?reason=….",
  },
  "HF-6065": {
    what: "{verb} needs a token here.",
    why: "{why}",
    safe: UNCHANGED,
    fix: "Set HOLDFAST_TOKEN to a token whose role has {permission}: holdfast token create makes one.",
  },
  "HF-6066": {
    what: "The server can't listen on {address}: {problem}.",
    why: "{why}",
    safe: "Nothing was started.",
    fix: "{fix}",
  },
  "HF-6067": {
    what: "{what} was changed by somebody else at the same time.",
    why: "Each try found a version other than the one it had read.",
    safe: UNCHANGED,
    fix: "Try again.",
  },
  "HF-6085": {
    what: "{actor} can't make a token that may do more than {actor}.",
    why: "The token would have the permissions {permissions}, which its maker doesn't have.",
    safe: "No token was made.",
    fix: "Choose other roles, or have somebody with these permissions make it.",
  },
  "HF-6086": {
    what: "The token was made, and its text can't be shown again.",
    why: "A request under this Idempotency-Key made it. The text is in the first answer only and is kept nowhere.",
    safe: "One token was made, and not a second one.",
    fix: "If the first answer is lost, revoke that token and make another under a new key.",
  },
  "HF-6069": {
    what: "Too many open streams.",
    why: "One {who} may have {limit} streams of events open at a time.",
    safe: UNCHANGED,
    fix: "Follow several runs with one stream, or close one that isn't needed.",
  },
});
