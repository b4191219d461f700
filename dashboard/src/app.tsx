import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import { ActProvider } from "./acts/provider.tsx";
import { followRuns } from "./api/live.ts";
import { KeySheet, useKeyboard } from "./keys.tsx";
import { Palette, usePalette } from "./palette.tsx";
import { ROUTES } from "./routes.tsx";
import { useScroll } from "./scroll.ts";
import { Shell } from "./shell.tsx";
import { TEXT } from "./text.ts";
import { Page } from "./ui/page.tsx";

/** The pages, for somebody who is signed in. */
export function App() {
  const queries = useQueryClient();
  const [, go] = useLocation();
  const [isSheetOpen, setSheetOpen] = useState(false);
  useEffect(() => followRuns(queries), [queries]);
  const palette = usePalette();
  useScroll();
  useKeyboard(go, () => setSheetOpen(true));
  return (
    <ActProvider>
      <Shell onKeys={() => setSheetOpen(true)} onFind={palette.open}>
        <Switch>
          {ROUTES.map(({ path, page }) => (
            <Route key={path} path={path} component={page} />
          ))}
          <Route>
            <Page title={TEXT.page.notFound}>
              <Link href="/" className="underline">
                {TEXT.page.home}
              </Link>
            </Page>
          </Route>
        </Switch>
      </Shell>
      {palette.isOpen ? <Palette onClose={palette.close} /> : null}
      {isSheetOpen ? <KeySheet onClose={() => setSheetOpen(false)} /> : null}
    </ActProvider>
  );
}
