import type { AlertNotification, NotifyChannel } from "../../src/core/manage/alerts/channel.ts";

/** A channel that keeps what it is sent, and fails while `isDown`. */
export interface Desk extends NotifyChannel {
  readonly all: AlertNotification[];
  isDown: boolean;
  /** What was told since the last call, in short: `opened run-failed P2 r1`. */
  news(): string[];
}

export function createDesk(name = "desk"): Desk {
  const all: AlertNotification[] = [];
  let told = 0;
  return {
    name,
    all,
    isDown: false,
    async send(notification) {
      if (this.isDown) throw new Error("the desk is closed");
      all.push(notification);
    },
    news() {
      const since = all.slice(told);
      told = all.length;
      return since.map(({ news, kind, severity, run }) => [news, kind, severity, run ?? ""].join(" ").trim());
    },
  };
}
