/** Rules that a simulation takes out, each by what the package then sees of its session. */
import type { NewEntry, Session } from "@sessions/core"
import type { Variant } from "./simulation.ts"

export const VARIANTS: Readonly<Record<string, { readonly variant: Variant; readonly found: string }>> = {
  "a call runs when its start is acknowledged": {
    variant: {
      session: (session) =>
        replaced(session, {
          append: (entries, o) => {
            const appended = session.append(entries, o)
            if (!isStart(entries)) return appended
            appended.catch(() => undefined)
            return Promise.resolve({ ids: [], head: session.head })
          },
        }),
    },
    found: "charged",
  },
  "each run has a nonce of its own": { variant: { session: withOneNonce }, found: "times" },
  "nothing starts behind a message that may forbid it": {
    variant: {
      session: (session) =>
        replaced(session, {
          callStates: async (o) => {
            const states = await session.callStates(o)
            return states && { entryId: states.entryId, calls: states.calls }
          },
        }),
    },
    found: "started behind",
  },
  "the attempt is no part of the key": {
    variant: { lies: true, key: ({ key, attempt }) => `${key} ${attempt}` },
    found: "times",
  },
}

function isStart(entries: NewEntry | readonly NewEntry[]): entries is readonly NewEntry[] {
  return Array.isArray(entries) && entries.some(({ type }: NewEntry) => type === "tool_start")
}

/** Every start has the nonce `r`, which each process takes for its own. */
function withOneNonce(session: Session): Session {
  const runs = new Map<string, string>()
  return replaced(session, {
    append: (entries, o) => {
      if (!isStart(entries)) return session.append(entries, o)
      for (const { id, run } of entries as readonly { id: string; run: string }[]) runs.set(id, run)
      return session.append(
        entries.map((entry) => ({ ...entry, run: "r" })),
        o,
      )
    },
    callStates: async (o) => {
      const states = await session.callStates(o)
      return (
        states && {
          ...states,
          calls: states.calls.map((call) => ({ ...call, run: runs.get(call.start ?? "") ?? call.run ?? "" })),
        }
      )
    },
  })
}

function replaced(session: Session, methods: Partial<Session>): Session {
  return new Proxy(session, {
    get(target, name) {
      const value: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}
