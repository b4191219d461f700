import { useEffect, useRef, useState } from "react";

const PAUSE_MS = 5_000;

/** Reads a changing text to screen readers, at most once in five seconds, and the newest one only. */
export function Announce({ text }: { readonly text: string }) {
  const [said, setSaid] = useState("");
  const last = useRef(0);
  const first = useRef(text);
  useEffect(() => {
    // What the page says anyway when it opens needs no second voice.
    if (text === first.current) return undefined;
    first.current = "";
    const wait = Math.max(0, last.current + PAUSE_MS - Date.now());
    const timer = setTimeout(() => {
      last.current = Date.now();
      setSaid(text);
    }, wait);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <p aria-live="polite" className="sr-only">
      {said}
    </p>
  );
}
