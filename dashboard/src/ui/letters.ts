import { usePreferences } from "../preferences.ts";
import { useMedia } from "./use-media.ts";

/** The size of the root's letters on usual, wide and very wide screens, as the style sheet has it. */
const ROOT_PX = { normal: [15, 17, 21], compact: [13.5, 15, 18] } as const;
const [USUAL_PX] = ROOT_PX.normal;

/** How much larger letters are than usual. What is measured in pixels and holds text grows with them. */
export function useLetters(): number {
  const [isBig, isHuge] = [useMedia("(min-width: 2400px)"), useMedia("(min-width: 3400px)")];
  const { density } = usePreferences();
  const [usual, big, huge] = ROOT_PX[density];
  return (isHuge ? huge : isBig ? big : usual) / USUAL_PX;
}

/** A length that was measured with letters of the usual size. */
export const useGrown = (px: number): number => Math.round(px * useLetters());
