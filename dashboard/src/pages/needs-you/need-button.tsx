import { useLocation } from "wouter";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { mainAct, type Need } from "./main-act.ts";

const T = TEXT.needsYou;

/** The one button of a card. */
export function NeedButton({ need }: { readonly need: Need }) {
  const [, go] = useLocation();
  const act = mainAct(need);
  return (
    <Button look={act === null ? "plain" : "primary"} onClick={() => go(`/r/${need.run.id}`)}>
      {T.acts[act ?? "look"]}
    </Button>
  );
}
