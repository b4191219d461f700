import { NamedStream } from "./named-stream.ts";
import type { StreamOptions } from "./stream-options.ts";
import { WholeStream } from "./whole-stream.ts";

/** One stream of server-sent events: what happens in runs, each event once and those of a run in order. */
export async function openStream(options: StreamOptions): Promise<Response> {
  const stream = options.runs ? new NamedStream(options, options.runs) : new WholeStream(options);
  const body = await stream.open();
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
  });
}
