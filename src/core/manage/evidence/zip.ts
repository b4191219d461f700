/** A ZIP archive of texts, as small as every tool reads: deflated, no directories, one date for all. */
export async function zip(
  files: readonly { readonly name: string; readonly text: string }[],
  at: number,
): Promise<Uint8Array> {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { name, text } of files) {
    const plain = encoder.encode(text);
    const packed = await deflated(plain);
    const title = encoder.encode(name);
    // The fields that the local header and the directory have in common: version, UTF-8 names, method, date, sizes.
    const shared = bytesOf(
      [20, 2],
      [0x0800, 2],
      [8, 2],
      ...dosDate(at),
      [crc32(plain), 4],
      [packed.length, 4],
      [plain.length, 4],
      [title.length, 2],
      [0, 2],
    );
    parts.push(bytesOf([0x04034b50, 4]), shared, title, packed);
    const place = bytesOf([0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]);
    directory.push(bytesOf([0x02014b50, 4], [20, 2]), shared, place, title);
    offset += 4 + shared.length + title.length + packed.length;
  }
  const listed = joined(directory);
  const count = files.length;
  const end = bytesOf(
    [0x06054b50, 4],
    [0, 4],
    [count, 2],
    [count, 2],
    [listed.length, 4],
    [offset, 4],
    [0, 2],
  );
  return joined([...parts, listed, end]);
}

type Field = readonly [value: number, bytes: number];

function bytesOf(...fields: readonly Field[]): Uint8Array {
  const bytes = fields.flatMap(([value, size]) =>
    Array.from({ length: size }, (_, at) => Math.floor(value / 2 ** (8 * at)) & 0xff),
  );
  return Uint8Array.from(bytes);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

async function deflated(plain: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([plain as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Time and date as the format has them: in steps of two seconds, from 1980 on. */
function dosDate(at: number): readonly [Field, Field] {
  const date = new Date(at);
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1);
  const year = Math.max(0, date.getUTCFullYear() - 1980);
  return [
    [time, 2],
    [(year << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate(), 2],
  ];
}

const TABLE = Array.from({ length: 256 }, (_, start) => {
  let value = start;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (TABLE[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}
