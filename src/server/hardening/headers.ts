import { DOCS_STYLE } from "../docs-page.ts";

/** Data is never a page: nothing in it may load or run anything. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Pages load only what this server has: no inline scripts, nothing from elsewhere. The one inline style is known. */
const PAGE_POLICY =
  `default-src 'self'; script-src 'self'; style-src 'self' ${DOCS_STYLE}; img-src 'self' data:; object-src 'none'; ` +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const ALWAYS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** The answer with the headers that every answer has, whoever made it. */
export function secured(
  response: Response,
  more: Readonly<Record<string, string>>,
  isTls: boolean,
): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries({ ...ALWAYS, ...more })) headers.set(name, value);
  const isPage = headers.get("content-type")?.startsWith("text/html") === true;
  headers.set("content-security-policy", isPage ? PAGE_POLICY : DATA_POLICY);
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  if (isTls) headers.set("strict-transport-security", "max-age=31536000");
  for (const name of ["x-powered-by", "server"]) headers.delete(name);
  const { status, statusText, body } = response;
  return new Response(body, { status, statusText, headers });
}
