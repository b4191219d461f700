import { useLocation } from "wouter";
import { TEXT } from "../../text.ts";
import { Page } from "../../ui/page.tsx";
import { StartRunDialog } from "./start-run.tsx";

/** An address of its own for the dialog, for links and the palette. */
export default function Start() {
  const [, go] = useLocation();
  return (
    <Page title={TEXT.start.title}>
      <StartRunDialog onClose={() => go("/runs")} />
    </Page>
  );
}
