/** Stores on one place, each as in a process of its own, which are closed after each test. */
import { type ClaudeStore, createClaudeStore } from "@sessions/claude-agent"
import { createSessions, type Sessions } from "@sessions/core"
import { afterAll, afterEach, beforeAll } from "vitest"
import { AGENT, MAIN, PROJECT } from "./lines.ts"
import type { Place } from "./storages.ts"

export interface Opened {
  readonly sessions: Sessions
  readonly store: ClaudeStore
}

interface Processes {
  readonly place: () => Place
  readonly openWith: (o?: { readonly maxOpenBytes?: number }) => Opened
  readonly open: () => ClaudeStore
  /** Keys of a project that no other test uses. */
  readonly keys: () => { readonly main: typeof MAIN; readonly agent: typeof AGENT; readonly projectKey: string }
}

let projects = 0

export function processesOn(makePlace: () => Promise<Place>): Processes {
  let place: Place
  const opened: Opened[] = []
  beforeAll(async () => {
    place = await makePlace()
  })
  afterEach(async () => {
    for (const { sessions, store } of opened.splice(0)) {
      await store.close()
      await sessions.close()
    }
  })
  afterAll(() => place.remove())

  const openWith: Processes["openWith"] = (o) => {
    const sessions = createSessions({ storage: place.open() })
    const one = { sessions, store: createClaudeStore({ sessions, ...o }) }
    opened.push(one)
    return one
  }
  return {
    place: () => place,
    openWith,
    open: () => openWith().store,
    keys() {
      const projectKey = `${PROJECT}-${++projects}`
      return { main: { ...MAIN, projectKey }, agent: { ...AGENT, projectKey }, projectKey }
    },
  }
}
