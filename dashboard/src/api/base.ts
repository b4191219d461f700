/** The path that the dashboard is mounted under, without a slash at the end: where its assets are. */
export const BASE = new URL(
  "..",
  import.meta.env.DEV ? `${location.origin}/assets/` : import.meta.url,
).pathname.replace(/\/$/, "");
