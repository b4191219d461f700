import { BASE } from "./api/base.ts";
import { askEarly } from "./api/early.ts";
import { wasSignedIn } from "./api/signed-in.ts";

/** The first questions of pages, by their addresses. The server works on them while the browser reads the code. */
const FIRST: readonly (readonly [RegExp, (run: string) => readonly string[]])[] = [
  [/^\/$/, () => ["/v1/needs-you?limit=100"]],
  [/^\/runs$/, () => ["/v1/runs?limit=100"]],
  [/^\/r\/([\w.-]+)$/, (run) => [`/v1/runs/${run}`, `/v1/runs/${run}/outline?limit=500`]],
];

/** Whoever was signed in here before probably is; nobody else is asked about. */
if (wasSignedIn() && location.hash === "") {
  askEarly("/v1/session");
  // Before all others: what happens after their answers is told by it.
  askEarly("/v1/events");
  for (const [address, questions] of FIRST) {
    const match = address.exec(location.pathname.slice(BASE.length));
    // A filter in the address changes the question.
    if (match && location.search === "") questions(match[1] ?? "").forEach(askEarly);
  }
}
