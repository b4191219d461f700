import { useEffect, useLayoutEffect, useRef } from "react";
import { useLocation, useSearch } from "wouter";

/** How far down each address was left. */
const places = new Map<string, number>();

/** A new page begins at its top; Back and Forward find it where it was left. */
export function useScroll(): void {
  const [path] = useLocation();
  const address = `${path}?${useSearch()}`;
  const isBack = useRef(false);
  const shown = useRef(address);
  useEffect(() => {
    history.scrollRestoration = "manual";
    const back = (): void => {
      isBack.current = true;
    };
    const keep = (): void => void places.set(shown.current, window.scrollY);
    window.addEventListener("popstate", back);
    window.addEventListener("scroll", keep, { passive: true });
    return () => {
      window.removeEventListener("popstate", back);
      window.removeEventListener("scroll", keep);
    };
  }, []);
  useLayoutEffect(() => {
    if (shown.current === address) return;
    const isSamePage = shown.current.split("?")[0] === path;
    shown.current = address;
    const place = isBack.current ? (places.get(address) ?? 0) : 0;
    if (isBack.current || !isSamePage) window.scrollTo(0, place);
    isBack.current = false;
  }, [address, path]);
}
