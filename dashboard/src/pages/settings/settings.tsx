import { Check, X } from "lucide-react";
import { setPreferences, usePreferences } from "../../preferences.ts";
import { useSession } from "../../session.tsx";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { Segments } from "../../ui/field.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { TokenList } from "./tokens.tsx";

const T = TEXT.settings;
const THEMES = ["system", "light", "dark"] as const;
const DENSITIES = ["normal", "compact"] as const;

/** Who you are, who else may use the server, and how the pages look. */
export default function Settings() {
  return (
    <Page title={TEXT.nav.settings} lead={T.lead}>
      <div className="flex flex-col gap-5">
        <TokenList />
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 lg:grid-cols-2">
          <You />
          <Look />
        </div>
      </div>
    </Page>
  );
}

function You() {
  const { actor, roles, may, leave } = useSession();
  return (
    <Card
      title={T.you}
      acts={
        <Button small onClick={leave}>
          {TEXT.nav.signOut}
        </Button>
      }
    >
      <div className="flex flex-col gap-3 p-4">
        <p>
          <span className="text-lg font-medium break-all">{actor}</span>
          <span className="block text-soft">
            {T.roles}: {roles.join(", ") || T.noRoles}
          </span>
        </p>
        <section>
          <h3 className="mb-1 text-[0.87rem] text-soft">{T.permissions}</h3>
          <ul className="flex flex-col gap-1 text-[0.93rem]">
            {Object.entries(T.permissionNames).map(([permission, name]) => {
              const has = may(permission);
              const Icon = has ? Check : X;
              return (
                <li key={permission} className={`flex items-start gap-2 ${has ? "" : "text-faint"}`}>
                  <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${has ? "text-good" : ""}`} />
                  <span>
                    <span className="sr-only">{has ? T.has : T.hasNot}: </span>
                    {name} <code className="text-[0.82rem]">{permission}</code>
                  </span>
                </li>
              );
            })}
          </ul>
        </section>
      </div>
    </Card>
  );
}

function Look() {
  const { theme, density } = usePreferences();
  return (
    <Card title={T.look}>
      <div className="flex flex-col gap-3 p-4">
        <p className="text-[0.93rem] text-soft">{T.lookLead}</p>
        <div className="flex flex-wrap items-center justify-between gap-2">
          <span>{T.theme}</span>
          <Segments
            label={T.theme}
            value={theme}
            choices={THEMES.map((value) => ({ value, name: T.themes[value] }))}
            onChange={(value) => setPreferences({ theme: value })}
          />
        </div>
        <div className="flex flex-wrap items-center justify-between gap-2">
          <span>{T.density}</span>
          <Segments
            label={T.density}
            value={density}
            choices={DENSITIES.map((value) => ({ value, name: T.densities[value] }))}
            onChange={(value) => setPreferences({ density: value })}
          />
        </div>
      </div>
    </Card>
  );
}
