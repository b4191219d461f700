async function* encoded(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const line of lines) yield encoder.encode(line);
}

/** JSON lines that are sent as they are made. */
export const linesResponse = (lines: AsyncIterable<string>): Response =>
  new Response(ReadableStream.from(encoded(lines)), {
    headers: { "content-type": "application/x-ndjson", "cache-control": "no-store" },
  });
