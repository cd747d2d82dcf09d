/** `createSessionClient`: the session API as functions, for pages and programs. */
import { createIds } from "@sessions/core/format"
import type { SessionContext, SessionInfo } from "@sessions/core"
import { type EventsOptions, follow } from "./follow.ts"
import { type CallSignal, createApiRequests, type SessionClientOptions } from "./requests.ts"
import { search } from "./search.ts"
import type {
  DeleteAnswer,
  LoadedSession,
  NewPrompt,
  NewSession,
  PromptAnswer,
  SessionEvent,
  SessionFilter,
  SessionList,
  StopAnswer,
} from "./types.ts"

export { SessionApiError } from "./api-error.ts"
export type { EventsOptions } from "./follow.ts"
export type { CallSignal, SessionClientOptions } from "./requests.ts"

export interface SessionClient {
  /** The server makes the id. Never repeated: without its answer it is `indeterminate` whether there is a new session. */
  create(session?: NewSession, o?: CallSignal): Promise<{ readonly id: string; readonly info: SessionInfo }>
  list(filter?: SessionFilter, o?: CallSignal): Promise<SessionList>
  /** The information and the newest messages; `before` of a page gets the one before it. */
  load(id: string, page?: { readonly before?: string; readonly limit?: number }, o?: CallSignal): Promise<LoadedSession>
  context(id: string, o?: CallSignal & { readonly window?: number }): Promise<SessionContext>
  rename(id: string, title: string | null, o?: CallSignal): Promise<{ readonly info: SessionInfo }>
  delete(id: string, o?: CallSignal): Promise<DeleteAnswer>
  /**
   * Resolves when the prompt is stored, and will run. Repeated until there is an answer, with the same id, which is made here unless it is
   * given. Send a prompt again, with its id, after `indeterminate` and `unavailable`.
   */
  prompt(id: string, prompt: Omit<NewPrompt, "id"> & { readonly id?: string }, o?: CallSignal): Promise<PromptAnswer>
  stop(id: string, messageId: string, o?: CallSignal): Promise<StopAnswer>
  /**
   * The events of a session from a cursor on, else from the first connection on, until it is deleted or the signal fires. Connects again by
   * itself and goes on behind the last event: each line of the log and each `turn_end` is given once. Rejects if the server refuses, such as
   * `not_found`, and after some 30 s in which another server answers, or nothing of a stream arrives.
   */
  events(id: string, o?: EventsOptions): AsyncIterable<SessionEvent>
}

/** Throws `invalid` for a wrong `url` or `timeout`. */
export function createSessionClient(options: SessionClientOptions): SessionClient {
  const requests = createApiRequests(options)
  const { call } = requests
  const newId = createIds()
  return {
    create: (session = {}, o) =>
      call("POST", "", { ...o, body: session, repeats: false, is: ({ id }) => typeof id === "string" }),
    list({ metadata, ...filter } = {}, o) {
      const query = search({ ...filter, metadata: metadata && JSON.stringify(metadata) })
      return call("GET", query, { ...o, repeats: true, is: ({ sessions }) => Array.isArray(sessions) })
    },
    load: (id, page = {}, o) =>
      call("GET", `${pathOf(id)}${search(page)}`, {
        ...o,
        repeats: true,
        is: ({ messages, cursor }) => Array.isArray(messages) && typeof cursor === "string",
      }),
    context: (id, { window, ...o } = {}) =>
      call("GET", `${pathOf(id)}/context${search({ window })}`, {
        ...o,
        repeats: true,
        is: ({ messages, tokens }) => Array.isArray(messages) && typeof tokens === "number",
      }),
    rename: (id, title, o) =>
      call("PATCH", pathOf(id), {
        ...o,
        body: { title },
        repeats: false,
        is: ({ info }) => typeof info?.id === "string",
      }),
    delete: (id, o) => call("DELETE", pathOf(id), { ...o, repeats: false, is: ({ id }) => typeof id === "string" }),
    prompt(id, prompt, o) {
      const body = { ...prompt, id: prompt.id ?? newId() }
      const is = ({ messageId }: Partial<PromptAnswer>): boolean => messageId === body.id
      return call("POST", `${pathOf(id)}/prompts`, { ...o, body, repeats: true, is })
    },
    stop(id, prompt, o) {
      const is = ({ messageId }: Partial<StopAnswer>): boolean => messageId === prompt
      return call("DELETE", `${pathOf(id)}/prompts/${encodeURIComponent(prompt)}`, { ...o, repeats: true, is })
    },
    events: (id, o = {}) => follow(requests, id, o),
  }
}

function pathOf(id: string): string {
  return `/${encodeURIComponent(id)}`
}
