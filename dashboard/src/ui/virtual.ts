import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect } from "react";

export interface RowsOptions {
  readonly count: number;
  readonly box: RefObject<HTMLElement | null>;
  readonly rowPx: number;
  readonly keyOf?: (index: number) => string | number;
}

/** Which of many equally high lines are in view. Only those are in the page. */
export function useRows({ count, box, rowPx, keyOf }: RowsOptions): Virtualizer<HTMLElement, Element> {
  // oxlint-disable-next-line react/incompatible-library -- nothing here is memoized by a compiler
  const virtual = useVirtualizer<HTMLElement, Element>({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => rowPx,
    overscan: 12,
    initialRect: { width: 800, height: 600 },
    ...(keyOf ? { getItemKey: keyOf } : {}),
  });
  useEffect(() => virtual.measure(), [virtual, rowPx]);
  return virtual;
}
