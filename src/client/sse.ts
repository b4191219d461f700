/** One block of a stream of server-sent events. */
export interface Block {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

/** The blocks of a body, whole ones only: what a cut connection leaves of the last is dropped. */
export async function* blocksOf(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
): AsyncGenerator<Block, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = lines.pop() ?? "";
      for (const text of lines) yield blockOf(text);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function blockOf(text: string): Block {
  let id: string | null = null;
  let event = "";
  const data: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, field, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "id") id = value;
    else if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
  return { id, event, data: data.join("\n") };
}
