import { Fragment } from "react";
import { Since, When } from "./time.tsx";

/** A moment, with the word before it that tells a beginning. */
const MOMENT = /((?:since )?\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)/;

/** A sentence about a run. The moments in it are shown as people say them. */
export function Headline({ text }: { readonly text: string }) {
  return text.split(MOMENT).map((part, index) =>
    // Moments stand at odd places, and a sentence with other moments is another sentence.
    // oxlint-disable-next-line react/no-array-index-key
    index % 2 === 1 ? <Moment key={index} text={part} /> : <Fragment key={index}>{part}</Fragment>,
  );
}

function Moment({ text }: { readonly text: string }) {
  const at = Date.parse(text.replace("since ", ""));
  if (!text.startsWith("since ")) return <When at={at} />;
  return (
    <>
      for <Since at={at} />
    </>
  );
}
