const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The zone of this browser. */
export const localZone = (): string => HERE;

const inZone = (zone: string, at: number): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(undefined, {
    dateStyle: "medium",
    timeStyle: at % 60_000 === 0 ? "short" : "medium",
    timeZone: zone,
  });

/** A time on the clocks of a zone; of this browser's if none is given or it isn't known here. */
export function zonedText(at: number, zone = HERE): string {
  try {
    return inZone(zone, at).format(at);
  } catch {
    return inZone(HERE, at).format(at);
  }
}

export const zones = (): readonly string[] => ["UTC", ...Intl.supportedValuesOf("timeZone")];
