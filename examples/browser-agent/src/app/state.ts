/** What the page knows. Views draw it; actions change it. */
import type { SessionInfo } from "@sessions/core"
import type { StorageEstimate } from "@sessions/idb"
import type { EndpointSettings } from "../agent/endpoint.ts"
import type { Doing } from "../agent/turn.ts"
import type { Conversation } from "../sessions/conversation.ts"
import type { Notice } from "./notices.ts"

export interface State {
  /** Undefined until they were listed. */
  readonly sessions: readonly SessionInfo[] | undefined
  /** There are more than are listed. */
  readonly more: boolean
  /** Of the session that is shown; undefined: a new one, which is made with its first message. */
  readonly openId: string | undefined
  readonly conversation: Conversation | undefined
  /** Turns of this tab, by session. */
  readonly turns: ReadonlyMap<string, Doing>
  /** Another tab has a turn on the session that is shown. */
  readonly elsewhere: boolean
  readonly compacting: boolean
  readonly notice: Notice | undefined
  /** Undefined: the stand-in. */
  readonly endpoint: EndpointSettings | undefined
  readonly estimate: StorageEstimate | undefined
  readonly kept: boolean
}

export interface Store {
  readonly get: () => State
  readonly set: (part: Partial<State>) => void
  /** Called once for all that changed in one go. */
  readonly subscribe: (listener: (state: State) => void) => void
}

export function createStore(initial: State): Store {
  let state = initial
  let queued = false
  const listeners: ((state: State) => void)[] = []
  return {
    get: () => state,
    set(part) {
      state = { ...state, ...part }
      if (queued) return
      queued = true
      // Not a frame: a tab in the background gets none.
      queueMicrotask(() => {
        queued = false
        for (const listener of listeners) listener(state)
      })
    },
    subscribe: (listener) => void listeners.push(listener),
  }
}
