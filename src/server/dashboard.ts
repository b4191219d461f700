import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { digest } from "../core/hash.ts";
import { PACKAGE_ROOT } from "../testing/package-files.ts";

/** Where the built pages are. */
const FOLDER = `${PACKAGE_ROOT}dist/dashboard`;
const INDEX = "index.html";
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};
/** Names of built files hold their digest, so what has such a name never changes. */
const FOR_EVER = "public, max-age=31536000, immutable";

interface StaticFile {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** The compressed forms, made when first asked for. */
  readonly encoded: Map<string, Buffer>;
}

const ENCODERS: readonly (readonly [string, (body: Buffer) => Buffer])[] = [
  ["br", (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })],
  ["gzip", (body) => gzipSync(body)],
];

/** Answers requests for pages: static files, and the one page for every address that isn't a file. */
export type Pages = (request: Request, pathname: string) => Response | null;

/** True if the pages are built, as they are in the published package. */
export const hasPages = (): boolean => existsSync(path.join(FOLDER, INDEX));

/** The dashboard, for a server that is mounted under `base`. Its files are read once. */
export function createPages(base: string): Pages {
  const files = readFiles(base);
  const index = files.get(`/${INDEX}`);
  return (request, pathname) => {
    if (request.method !== "GET" && request.method !== "HEAD") return null;
    if (pathname !== base && !pathname.startsWith(`${base}/`)) return null;
    const local = pathname.slice(base.length) || "/";
    const isFile = local.startsWith("/assets/");
    const file = isFile ? files.get(local) : index;
    return file ? answer(file, request) : null;
  };
}

function readFiles(base: string): ReadonlyMap<string, StaticFile> {
  const files = new Map<string, StaticFile>();
  for (const name of readdirSync(FOLDER, { recursive: true, encoding: "utf8" })) {
    const type = TYPES[path.extname(name)];
    if (type === undefined) continue;
    const content = readFileSync(path.join(FOLDER, name));
    const isIndex = name === INDEX;
    // The page is shown at every address, so its files are named from the root on.
    const body = isIndex ? Buffer.from(content.toString("utf8").replaceAll('"./', `"${base}/`)) : content;
    const cache = isIndex ? "no-cache" : FOR_EVER;
    const etag = `"${digest(body.toString("latin1")).slice(0, 16)}"`;
    const headers = { "content-type": type, "cache-control": cache, etag, vary: "accept-encoding" };
    files.set(`/${name.replaceAll("\\", "/")}`, { body, headers, encoded: new Map() });
  }
  return files;
}

function answer(file: StaticFile, request: Request): Response {
  const { headers } = file;
  if (request.headers.get("if-none-match") === headers["etag"])
    return new Response(null, { status: 304, headers });
  const accepted = (request.headers.get("accept-encoding") ?? "")
    .split(",")
    .map((one) => one.trim().split(";")[0]);
  const encoder = ENCODERS.find(([name]) => accepted.includes(name));
  const body = encoder ? encoded(file, ...encoder) : file.body;
  const more = encoder ? { ...headers, "content-encoding": encoder[0] } : headers;
  return new Response(request.method === "HEAD" ? null : new Uint8Array(body), { headers: more });
}

function encoded(
  { body, encoded: known }: StaticFile,
  name: string,
  encode: (body: Buffer) => Buffer,
): Buffer {
  const found = known.get(name) ?? encode(body);
  known.set(name, found);
  return found;
}
