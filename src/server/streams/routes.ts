import type { Context, Hono } from "hono";
import { HoldfastError } from "../../core/errors.ts";
import { admit } from "../access/admit.ts";
import type { Principal } from "../access/permission.ts";
import type { Tools } from "../call.ts";
import { isInner, problemResponse } from "../problem.ts";
import { KeptStreams } from "./kept-streams.ts";
import { type StreamMethod, streamMethods } from "./methods.ts";
import { answerRead } from "./read.ts";
import { keptSource, runSource, type StreamSource } from "./source.ts";
import { answerAppend, answerCreate, headersOfRefusal } from "./write.ts";

/** Answers a request of somebody, or tells why not. */
type Answered = (request: Request, work: (principal: Principal) => Promise<Response>) => Promise<Response>;

const PREFIX = "/v1/stream/";

/** The Durable Streams protocol: streams that clients keep, and those of runs to read. */
export function streamRoutes(hono: Hono, tools: Tools, answered: Answered): void {
  const { engine, store, clock, base, now } = tools;
  const streams = new KeptStreams(store, clock, now);
  const pathOf = (url: string): string | undefined => pathIn(url, `${base}${PREFIX}`);
  const allowed = (
    { req }: Context,
    method: StreamMethod,
    params: Readonly<Record<string, string>>,
    work: () => Promise<Response>,
  ): Promise<Response> =>
    answered(req.raw, async (principal) => {
      await admit(engine, method, principal, params);
      return work().catch(refuse);
    });
  const kept = (method: StreamMethod, work: (path: string, request: Request) => Promise<Response>): void => {
    hono.on(method.method, `${PREFIX}*`, (context) => {
      const name = pathOf(context.req.path) ?? "";
      return allowed(context, method, { name }, () => work(name, context.req.raw));
    });
  };
  const read = (source: StreamSource, request: Request): Promise<Response> =>
    answerRead(source, request, { clock, longPollMs: tools.longPollMs });
  kept(streamMethods.createStream, (path, request) => answerCreate(streams, path, request, pathOf));
  kept(streamMethods.appendStream, (path, request) => answerAppend(streams, path, request));
  kept(streamMethods.readStream, (path, request) => read(keptSource(streams, path), request));
  kept(streamMethods.deleteStream, async (path) => {
    await streams.delete(path);
    return new Response(null, { status: 204 });
  });
  const ofRun = "/v1/runs/:run/streams/:name";
  hono.get(ofRun, (context) => {
    const { run, name } = context.req.param();
    const source = (): Promise<Response> => read(runSource(engine, run, name), context.req.raw);
    return allowed(context, streamMethods.readRunStream, { run, name }, source);
  });
  hono.all(ofRun, (context) => {
    const error = new HoldfastError("HF-6214", { stream: context.req.param("name") ?? "" });
    return problemResponse(error, { allow: "GET, HEAD" });
  });
}

/** A refusal with the headers that the protocol wants on it. */
function refuse(error: unknown): Response {
  if (isInner(error)) throw error;
  return problemResponse(error as HoldfastError, headersOfRefusal(error));
}

/** The path of a stream in an address, or in the path of one. */
function pathIn(url: string, prefix: string): string | undefined {
  const path = url.startsWith("/") ? url : URL.canParse(url) ? new URL(url).pathname : "";
  if (!path.startsWith(prefix) || path.length === prefix.length) return undefined;
  try {
    return decodeURIComponent(path.slice(prefix.length));
  } catch {
    return undefined;
  }
}
