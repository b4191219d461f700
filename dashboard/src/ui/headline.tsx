import { Fragment } from "react";
import { When } from "./time.tsx";

const MOMENT = /(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)/;

/** A sentence about a run. The moments in it are shown as people say them. */
export function Headline({ text }: { readonly text: string }) {
  const parts = text.split(MOMENT);
  return parts.map((part, index) =>
    // Moments stand at odd places, and a sentence with other moments is another sentence.
    // oxlint-disable-next-line react/no-array-index-key
    index % 2 === 1 ? <When key={index} at={Date.parse(part)} /> : <Fragment key={index}>{part}</Fragment>,
  );
}
