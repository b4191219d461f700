import { useQuery, useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type FormEvent,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useState,
} from "react";
import { onSignedOut } from "./api/client.ts";
import { currentSession, type Session, signIn, signInWithCode, signOut } from "./api/session.ts";
import { TEXT } from "./text.ts";
import { Button } from "./ui/button.tsx";
import { CommandLine } from "./ui/copy.tsx";
import { ProblemView } from "./ui/problem.tsx";

export interface SessionUse {
  readonly actor: string;
  readonly roles: readonly string[];
  /** Whether the server would let this person do it. The server decides; this only tells in advance. */
  readonly may: (permission: string) => boolean;
  readonly leave: () => void;
}

const Context = createContext<SessionUse>({ actor: "", roles: [], may: () => false, leave: () => undefined });

export const useSession = (): SessionUse => useContext(Context);

const KEY = ["session"];

/** The one-time code of a sign-in link. It stands after #, which no browser sends, and leaves the address at once. */
function takeCode(): string | null {
  const [, code] = /^#code=([\w-]{20,100})$/.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return code ?? null;
}

/** Shows the pages to whoever is signed in, and the sign-in page to everybody else. */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const queries = useQueryClient();
  const [code] = useState(takeCode);
  const [isSpent, setSpent] = useState(false);
  const query = useQuery({
    queryKey: KEY,
    queryFn: async (): Promise<Session | null> => {
      const session = await currentSession();
      if (session || code === null) return session;
      return signInWithCode(code).catch(() => {
        setSpent(true);
        return null;
      });
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => onSignedOut(() => queries.setQueryData(KEY, null)), [queries]);
  const session = query.data;
  const use = useMemo<SessionUse | null>(() => {
    if (!session) return null;
    const leave = (): void => {
      void signOut(session.csrf).then(() => {
        queries.setQueryData(KEY, null);
        queries.removeQueries({ predicate: ({ queryKey: [name] }) => name !== KEY[0] });
      });
    };
    return { ...session, may: (permission) => session.permissions.includes(permission), leave };
  }, [session, queries]);
  if (query.isPending) return <p className="p-8 text-soft">{TEXT.page.loading}</p>;
  if (query.isError)
    return (
      <Center>
        <ProblemView error={query.error} retry={() => void query.refetch()} />
      </Center>
    );
  if (!use) return <SignIn isSpent={isSpent} onSession={(opened) => queries.setQueryData(KEY, opened)} />;
  return <Context value={use}>{children}</Context>;
}

const Center = ({ children }: { readonly children: ReactNode }) => (
  <main className="mx-auto flex min-h-dvh w-full max-w-md flex-col justify-center gap-5 p-6">{children}</main>
);

function SignIn({
  isSpent,
  onSession,
}: {
  readonly isSpent: boolean;
  readonly onSession: (session: Session) => void;
}) {
  const [token, setToken] = useState("");
  const [refused, setRefused] = useState(isSpent ? TEXT.signIn.spent : "");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn(token.trim()).then(onSession, () => setRefused(TEXT.signIn.refused));
  };
  return (
    <Center>
      <h1 className="text-2xl font-semibold">
        {TEXT.product} <span className="font-normal text-soft">{TEXT.signIn.title}</span>
      </h1>
      <p className="text-soft">{TEXT.signIn.lead}</p>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <label className="flex flex-col gap-1 font-medium">
          {TEXT.signIn.token}
          <input
            type="password"
            autoComplete="off"
            required
            value={token}
            onChange={(event) => setToken(event.target.value)}
            className="rounded-md border border-line-strong bg-surface px-3 py-2 font-mono"
          />
        </label>
        {refused === "" ? null : (
          <p role="alert" className="text-bad">
            {refused}
          </p>
        )}
        <Button type="submit" look="primary">
          {TEXT.signIn.act}
        </Button>
      </form>
      <div>
        <p className="mb-1 text-soft">{TEXT.signIn.make}</p>
        <CommandLine command={TEXT.signIn.command} />
      </div>
    </Center>
  );
}
