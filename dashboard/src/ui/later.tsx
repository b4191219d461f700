import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { TEXT } from "../text.ts";
import { Button } from "./button.tsx";

/**
 * A component whose code is loaded when it is first shown, or before by `load`. React's own way holds what was loaded back
 * for up to 0.3 s after it has shown that something loads.
 */
export function later<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
  meanwhile: ReactNode = null,
): ComponentType<Props> & { readonly load: () => Promise<void> } {
  let loaded: ComponentType<Props> | undefined;
  const ready = async (): Promise<void> => {
    loaded ??= (await load()).default;
  };
  function Later(props: Props) {
    const [state, setState] = useState<"waits" | "loaded" | "failed">("waits");
    useEffect(() => {
      let isGone = false;
      const show = (next: typeof state): void => {
        if (!isGone) setState(next);
      };
      if (!loaded)
        ready().then(
          () => show("loaded"),
          () => show("failed"),
        );
      return () => {
        isGone = true;
      };
    }, []);
    const Loaded = loaded;
    if (Loaded) return <Loaded {...props} />;
    return state === "failed" ? <NotLoaded /> : meanwhile;
  }
  return Object.assign(Later, { load: ready });
}

/** A server of another version has no longer the files that this page names. */
const NotLoaded = () => (
  <div role="alert" className="flex flex-wrap items-center gap-3 p-4">
    <p>{TEXT.page.notLoaded}</p>
    <Button small onClick={() => location.reload()}>
      {TEXT.page.reload}
    </Button>
  </div>
);
