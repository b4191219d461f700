import { useLocation } from "wouter";
import { useRunActs } from "../../acts/use-run-acts.tsx";
import { isMain } from "../../acts/verbs.ts";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import type { Need } from "./groups.ts";

/** The one button of a card: what ends the wait, or the run itself for somebody who may only look. */
export function NeedButton({ need: { run } }: { readonly need: Need }) {
  const [, go] = useLocation();
  const [main] = useRunActs(run).filter(isMain);
  if (main)
    return (
      <Button look="primary" onClick={main.open}>
        {main.name}
      </Button>
    );
  return <Button onClick={() => go(`/r/${run.id}`)}>{TEXT.needsYou.look}</Button>;
}
