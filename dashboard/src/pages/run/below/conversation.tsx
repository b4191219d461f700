import { useMutation } from "@tanstack/react-query";
import { Bot, CircleUser, Wrench } from "lucide-react";
import { useState } from "react";
import { Reveal } from "../../../acts/reveal.tsx";
import { type AnswerOf, client } from "../../../api/client.ts";
import { TEXT } from "../../../text.ts";
import { Button } from "../../../ui/button.tsx";
import { countText } from "../../../ui/numbers.ts";
import { ProblemView } from "../../../ui/problem.tsx";

type Talk = AnswerOf<"readConversation">;
type Message = Talk["messages"][number];

const PAGE = 100;

/** What an agent and its model have said to each other. Masked like every other value. */
export default function Conversation({ run }: { readonly run: string }) {
  const ask = async (reason: string, agent?: string, from = 0): Promise<Asked> => ({
    reason,
    talk: await client.readConversation({
      run,
      at: "last",
      reason,
      from,
      limit: PAGE,
      ...(agent === undefined ? {} : { agent }),
    }),
  });
  return (
    <div className="px-4 py-3">
      <Reveal what={TEXT.run.conversation.what} read={(reason) => ask(reason)}>
        {(first) => <TalkView first={first} ask={ask} />}
      </Reveal>
    </div>
  );
}

/** A page of a conversation, and the reason for which it was read: it holds for the next pages too. */
interface Asked {
  readonly reason: string;
  readonly talk: Talk;
}

function TalkView({
  first,
  ask,
}: {
  readonly first: Asked;
  readonly ask: (reason: string, agent: string, from: number) => Promise<Asked>;
}) {
  const [talk, setTalk] = useState(first.talk);
  const next = useMutation({
    mutationFn: async ({ agent, from }: { readonly agent: string; readonly from: number }) => {
      const { talk: page } = await ask(first.reason, agent, from);
      return from > 0 ? { ...page, messages: [...talk.messages, ...page.messages] } : page;
    },
    onSuccess: setTalk,
  });
  const { agent } = talk;
  if (agent === null) return <p className="text-soft">{TEXT.run.conversation.none}</p>;
  return (
    <>
      <Agents talk={talk} onAgent={(other) => next.mutate({ agent: other, from: 0 })} />
      <Messages talk={talk} />
      {next.isError ? <ProblemView error={next.error} /> : null}
      {talk.next === null ? null : (
        <Button
          small
          className="mt-3"
          disabled={next.isPending}
          onClick={() => next.mutate({ agent, from: talk.next ?? 0 })}
        >
          {TEXT.page.more}
        </Button>
      )}
    </>
  );
}

function Agents({ talk, onAgent }: { readonly talk: Talk; readonly onAgent: (agent: string) => void }) {
  const texts = TEXT.run.conversation;
  return (
    <p className="mb-3 flex flex-wrap items-center gap-3">
      {talk.agents.length > 1 ? (
        <label className="flex items-center gap-2">
          {texts.agent}
          <select
            value={talk.agent ?? ""}
            onChange={(event) => onAgent(event.target.value)}
            className="rounded-md border border-line-strong bg-surface px-2 py-1"
          >
            {talk.agents.map((agent) => (
              <option key={agent}>{agent}</option>
            ))}
          </select>
        </label>
      ) : (
        <span className="font-medium">{talk.agent}</span>
      )}
      <span className="text-soft">
        {talk.turns === null ? null : texts.turns(talk.turns)} {texts.messages(talk.total)}
      </span>
    </p>
  );
}

function Messages({ talk }: { readonly talk: Talk }) {
  let turn = 0;
  return (
    <ol className="flex max-w-[90ch] flex-col gap-2">
      {talk.messages.map((message) => {
        if (message.role === "assistant") turn++;
        return (
          <li key={message.index} className={message.role === "tool" ? "ml-8" : ""}>
            <One message={message} turn={turn} turns={talk.turns} />
          </li>
        );
      })}
    </ol>
  );
}

const ICONS = { assistant: Bot, tool: Wrench, user: CircleUser } as const;
const iconName = (role: string): keyof typeof ICONS =>
  role === "assistant" || role === "tool" ? role : "user";

function One({
  message,
  turn,
  turns,
}: {
  readonly message: Message;
  readonly turn: number;
  readonly turns: number | null;
}) {
  const { role, text, length, calls, tool, isError, origin } = message;
  const texts = TEXT.run.conversation;
  const Icon = ICONS[iconName(role)];
  return (
    <div className={`rounded-md px-3 py-2 ${role === "assistant" ? "bg-accent-soft/50" : "bg-sunken"}`}>
      <p className={`mb-1 flex items-center gap-1.5 text-[0.87rem] ${isError ? "text-bad" : "text-soft"}`}>
        <Icon aria-hidden className="size-4" />
        {tool ?? texts.roles[iconName(role)]}
        {origin === "human" ? ` · ${texts.injected}` : null}
        {isError ? ` · ${texts.error}` : null}
        {role === "assistant" && turns !== null ? (
          <span className="ml-auto">{texts.turn(turn, turns)}</span>
        ) : null}
      </p>
      {text === "" ? null : (
        <p
          className={`max-h-80 overflow-y-auto break-words whitespace-pre-wrap ${role === "tool" ? "font-mono text-[0.87rem]" : ""}`}
        >
          {text}
        </p>
      )}
      {length > text.length ? (
        <p className="text-[0.87rem] text-waits">{texts.cut(countText(length))}</p>
      ) : null}
      {calls?.map((call) => (
        <div key={call.id} className="mt-2 rounded border border-line bg-surface px-2.5 py-1.5">
          <p className="flex items-center gap-1.5 font-medium">
            <Wrench aria-hidden className="size-4 text-soft" /> {call.tool}
          </p>
          <pre className="max-h-40 overflow-auto font-mono text-[0.87rem] break-all whitespace-pre-wrap text-soft">
            {call.arguments}
          </pre>
        </div>
      ))}
    </div>
  );
}
