import { type ComponentType, type ReactNode, useEffect, useState } from "react";

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
    const [state, setState] = useState<{ readonly error?: unknown }>({});
    useEffect(() => {
      let isGone = false;
      const show = (next: { readonly error?: unknown }): void => {
        if (!isGone) setState(next);
      };
      if (!loaded)
        ready().then(
          () => show({}),
          (error: unknown) => show({ error }),
        );
      return () => {
        isGone = true;
      };
    }, []);
    if (state.error !== undefined) throw state.error;
    const Loaded = loaded;
    return Loaded ? <Loaded {...props} /> : meanwhile;
  }
  return Object.assign(Later, { load: ready });
}
