/** The state of the page. Actions change it, views draw it. */
import type { SessionInfo } from "@sessions/core"
import type { StorageEstimate } from "@sessions/idb"
import type { SearchHit } from "@sessions/search"
import type { EndpointSettings } from "../agent/endpoint.ts"
import type { Activity } from "../agent/turn.ts"
import type { Conversation } from "../sessions/conversation.ts"
import type { Notice } from "./notices.ts"

export type SyncState =
  | { readonly kind: "off" }
  | { readonly kind: "running" }
  | { readonly kind: "offline" }
  | { readonly kind: "done"; readonly at: string }
  /** The server was reached. */
  | { readonly kind: "failed"; readonly text: string }

/** What a search over all sessions has found. */
export interface Found {
  readonly hits: readonly SearchHit[]
  /** Whether there are more than the shown hits. */
  readonly more: boolean
}

export interface State {
  /** Undefined until the first list is there. */
  readonly sessions: readonly SessionInfo[] | undefined
  /** Whether there are more than the listed ones. */
  readonly more: boolean
  /** Undefined without a search. */
  readonly found: Found | undefined
  /** The shown session; undefined for a new one, which is created with its first message. */
  readonly openId: string | undefined
  readonly conversation: Conversation | undefined
  /** Running turns of this tab, by session. */
  readonly turns: ReadonlyMap<string, Activity>
  /** Whether another tab runs a turn on the shown session. */
  readonly runsElsewhere: boolean
  readonly compacting: boolean
  readonly notice: Notice | undefined
  /** Undefined selects the stand-in. */
  readonly endpoint: EndpointSettings | undefined
  readonly estimate: StorageEstimate | undefined
  readonly persisted: boolean
  readonly sync: SyncState
}

export interface Store {
  readonly get: () => State
  readonly set: (part: Partial<State>) => void
  /** The listener is called once for all changes of one tick. */
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
      // Not an animation frame: a tab in the background gets none.
      queueMicrotask(() => {
        queued = false
        for (const listener of listeners) listener(state)
      })
    },
    subscribe: (listener) => void listeners.push(listener),
  }
}
