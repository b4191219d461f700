import { HoldfastError } from "../../core/errors.ts";
import type { Producer } from "./chunks.ts";
import type { ForkRequest } from "./forks.ts";
import type { Appended, KeptStreams } from "./kept-streams.ts";
import { offsetOf } from "./state.ts";

/** The most bytes of one append. */
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_DRAINED = 4 * MOST_BYTES;
const WHOLE = /^(?:0|[1-9]\d{0,14})$/;
const DIGITS = /^\d{1,16}$/;
const TYPE = /^[\w.+-]+\/[\w.+-]+/;
/** With an offset of its own time zone: a time without one would mean another moment elsewhere. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

const badHeader = (header: string, problem: string, fix: string): HoldfastError =>
  new HoldfastError("HF-6010", { header, problem, fix });

/** Answers PUT: creates a stream, or finds the same one. */
export async function answerCreate(
  streams: KeptStreams,
  path: string,
  request: Request,
  pathOf: (url: string) => string | undefined,
): Promise<Response> {
  const { headers } = request;
  const fork = forkIn(headers, pathOf);
  const type = headers.get("content-type");
  const given = {
    contentType: type !== null && TYPE.test(type) ? type : undefined,
    ...endIn(headers),
    closed: isClosing(headers),
    fork,
    body: await bodyOf(request),
  };
  const { stream, isNew } = await streams.create(path, given);
  return new Response(null, {
    status: isNew ? 201 : 200,
    headers: {
      "content-type": stream.head.contentType,
      "stream-next-offset": offsetOf(stream.state),
      ...(isNew ? { location: request.url } : {}),
      ...(stream.state.closed ? CLOSED : {}),
    },
  });
}

const CLOSED = { "stream-closed": "true" } as const;

const isClosing = (headers: Headers): boolean => headers.get("stream-closed")?.toLowerCase() === "true";

function endIn(headers: Headers): { readonly ttl: number | null; readonly expiresAt: string | null } {
  const [ttl, expiresAt] = [headers.get("stream-ttl"), headers.get("stream-expires-at")];
  if (ttl !== null && expiresAt !== null)
    throw badHeader("Stream-TTL", "Stream-Expires-At says something else.", "Send one of them.");
  if (ttl !== null && !WHOLE.test(ttl))
    throw badHeader("Stream-TTL", "It is a whole number of seconds.", "Send a number such as 3600.");
  if (expiresAt !== null && !(TIME.test(expiresAt) && Number.isFinite(Date.parse(expiresAt))))
    throw badHeader("Stream-Expires-At", "It isn't a time of RFC 3339.", "Send 2030-01-31T12:00:00Z.");
  return { ttl: ttl === null ? null : Number(ttl), expiresAt };
}

function forkIn(headers: Headers, pathOf: (url: string) => string | undefined): ForkRequest | null {
  const source = headers.get("stream-forked-from");
  const [offset, sub] = [headers.get("stream-fork-offset"), headers.get("stream-fork-sub-offset")];
  if (sub !== null && (source === null || !WHOLE.test(sub)))
    throw badHeader(
      "Stream-Fork-Sub-Offset",
      "It is a whole number, for a fork.",
      "Send a number such as 3.",
    );
  if (source === null) return null;
  const path = pathOf(source);
  if (path === undefined) throw new HoldfastError("HF-6200", { stream: source.slice(0, 200) });
  return { path, sub: Number(sub ?? 0), ...(offset === null ? {} : { offset }) };
}

/** Answers POST: appends, closes, or both. */
export async function answerAppend(streams: KeptStreams, path: string, request: Request): Promise<Response> {
  const { headers } = request;
  const producer = producerIn(headers);
  const closed = isClosing(headers);
  const contentType = headers.get("content-type");
  const body = await bodyOf(request);
  if (body.length === 0 && !closed) {
    await streams.open(path, false);
    throw new HoldfastError("HF-6212", { stream: path });
  }
  if (body.length > 0 && contentType === null)
    throw badHeader("Content-Type", "It is missing.", "Send the type of the stream.");
  const done = await streams.append(path, {
    body,
    contentType,
    closed,
    producer,
    seq: headers.get("stream-seq"),
  });
  return appendAnswer(done, producer, contentType, body.length > 0);
}

function producerIn(headers: Headers): Producer | undefined {
  const [id, epoch, seq] = ["producer-id", "producer-epoch", "producer-seq"].map((name) => headers.get(name));
  if (id === null && epoch === null && seq === null) return undefined;
  const isWhole = (text: string | null | undefined): text is string =>
    typeof text === "string" && DIGITS.test(text) && Number.isSafeInteger(Number(text));
  if (!id || id.length > 200 || !isWhole(epoch) || !isWhole(seq))
    throw badHeader(
      "Producer-Id",
      "A producer names itself, its epoch and the number of its append.",
      "Send Producer-Id, Producer-Epoch: 0 and Producer-Seq: 0, or none of them.",
    );
  return { id, epoch: Number(epoch), seq: Number(seq) };
}

function appendAnswer(
  done: Appended,
  producer: Producer | undefined,
  given: string | null,
  hasBody: boolean,
): Response {
  const { stream } = done;
  const { path, head, state } = stream;
  const [name, id] = [{ stream: path }, producer?.id ?? ""];
  const told = { "stream-next-offset": offsetOf(state), ...(state.closed ? CLOSED : {}) };
  const numbered = (seq: number): Record<string, string> =>
    producer ? { "producer-epoch": String(producer.epoch), "producer-seq": String(seq) } : {};
  switch (done.is) {
    case "appended":
      return new Response(null, {
        status: producer && hasBody ? 200 : 204,
        headers: { ...told, ...numbered(producer?.seq ?? 0) },
      });
    case "duplicate":
      return new Response(null, { status: 204, headers: { ...told, ...numbered(done.lastSeq) } });
    case "closed":
      throw withHeaders(new HoldfastError("HF-6202", name), told);
    case "type":
      throw new HoldfastError("HF-6208", { ...name, type: head.contentType, given: given ?? "nothing" });
    case "seq":
      throw new HoldfastError("HF-6209", name);
    case "stale":
      throw withHeaders(new HoldfastError("HF-6210", { ...name, producer: id, epoch: done.epoch }), {
        "producer-epoch": String(done.epoch),
      });
    case "unbegun":
      throw badHeader("Producer-Seq", "A new epoch begins with 0.", "Send Producer-Seq: 0.");
    case "gap": {
      const [expected, received] = [done.expected, producer?.seq ?? 0];
      throw withHeaders(new HoldfastError("HF-6211", { ...name, producer: id, expected, received }), {
        "producer-expected-seq": String(expected),
        "producer-received-seq": String(received),
      });
    }
  }
}

/** Headers that belong to a refusal, by the refusal. */
const refusals = new WeakMap<HoldfastError, Readonly<Record<string, string>>>();

function withHeaders(error: HoldfastError, headers: Readonly<Record<string, string>>): HoldfastError {
  refusals.set(error, headers);
  return error;
}

export const headersOfRefusal = (error: unknown): Readonly<Record<string, string>> =>
  HoldfastError.is(error) ? (refusals.get(error) ?? {}) : {};

/** The bytes of a body, within the limit (HF-6006). */
async function bodyOf(request: Request): Promise<Uint8Array> {
  const refused = new HoldfastError("HF-6006", { limit: MOST_BYTES });
  if (Number(request.headers.get("content-length") ?? 0) > MOST_DRAINED) throw refused;
  if (!request.body) return new Uint8Array();
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request.body as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > MOST_DRAINED) throw refused;
    // Most clients read an answer only after they have sent everything.
    if (size > MOST_BYTES) parts = [];
    else parts.push(part);
  }
  if (size > MOST_BYTES) throw refused;
  return Buffer.concat(parts);
}
