/**
 * Checkpoint ids are version 4 UUIDs. The first eight digits are a hash of the run's id and the next four the layer, so
 * that a checkpoint can be found by its id alone in a store that has no table of them.
 */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const isCheckpointId = (text: unknown): text is string => typeof text === "string" && UUID.test(text);

/** `random`: a version 4 UUID, from which the rest is taken. */
export const checkpointId = (runId: string, layer: number, random: string): string =>
  `${runMark(runId)}-${(layer % 0x1_0000).toString(16).padStart(4, "0")}${random.slice(13)}`;

export const isOfRun = (id: string, runId: string): boolean => id.startsWith(runMark(runId));

/** The layers that the id may be of, up to the last one. */
export function layersIn(id: string, last: number): number[] {
  const first = Number.parseInt(id.slice(9, 13), 16);
  const found: number[] = [];
  for (let layer = first; layer <= last; layer += 0x1_0000) found.push(layer);
  return found.reverse();
}

/** FNV-1a, 32 bits. */
function runMark(runId: string): string {
  let hash = 0x811c9dc5;
  for (const char of runId) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** The name of the checkpoint after so many layers. */
export const layerLabel = (layers: number): string => `layer-${layers}`;

export const isLayerLabel = (label: string): boolean => /^layer-\d+$/.test(label);
