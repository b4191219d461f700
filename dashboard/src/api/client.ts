import { type Client, createClient } from "holdfast/client";
import { BASE } from "./base.ts";
import { takeEarly } from "./early.ts";

export type { AnswerOf, ArgsOf } from "holdfast/client";
export { ApiError } from "holdfast/client";

/** What an act must repeat so that the server knows it comes from a page of its own. Set when somebody signs in. */
let csrf: string | null = null;
let isOver: () => void = () => undefined;

export function setCsrf(value: string | null): void {
  csrf = value;
}

/** Called when the server no longer knows who this is. */
export function onSignedOut(listener: () => void): void {
  isOver = listener;
}

async function send(request: Request): Promise<Response> {
  if (csrf !== null && request.method !== "GET") request.headers.set("x-holdfast-csrf", csrf);
  const early = request.method === "GET" ? await takeEarly(request.url, request.signal) : undefined;
  const response = early ?? (await fetch(request));
  if (response.status === 401) isOver();
  return response;
}

/** The one client of the pages. The browser sends the session's cookie by itself. */
export const client: Client = createClient({ url: `${location.origin}${BASE}`, fetch: send });
