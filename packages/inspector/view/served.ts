/** The sessions of a server. Every request carries the token, which stays in this tab. */
import type { ContextView, Row, StoredEntry, Summary } from "../src/model/types.ts"
import type { End } from "../src/serve/end.ts"
import type { FoundEntry } from "../src/serve/inspector.ts"
import type { Listed } from "../src/serve/list.ts"
import type { Rights } from "../src/html.ts"
import { FindsFirst } from "./finds-first.ts"
import { linesOf, wholeOf } from "./lines.ts"
import type { Changes, Opened, SessionData, Source } from "./source.ts"

/** The server has refused the token. */
export class TokenRefused extends Error {}

export function servedSource(token: string, { write, compact }: Rights, onRefused: () => void): Source {
  const opened = new Map<string, Opened>()
  const views = new Map<string, View>()
  /** Where the logs ended of which `opened` has the whole. */
  const heads = new Map<string, string>()
  const ask = async (path: string, signal?: AbortSignal, change: RequestInit = {}): Promise<Response> => {
    const response = await fetch(`/api/${path}`, {
      ...change,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      redirect: "error",
      ...(signal === undefined ? {} : { signal }),
    })
    if (response.ok) return response
    if (response.status === 401) onRefused()
    const { error } = (await response.json()) as { error?: { message?: string } }
    throw response.status === 401 ? new TokenRefused("The token is wrong.") : new Error(error?.message ?? "It failed.")
  }
  const get = async <T>(path: string, check: (value: unknown) => T, signal?: AbortSignal): Promise<T> =>
    check(await (await ask(path, signal)).json())
  /** What comes from an earlier reading is dropped. */
  const read = (session: string, view: View): void => {
    view.reading.abort()
    const { signal } = (view.reading = new AbortController())
    const known = (next: Opened): void => {
      if (signal.aborted) return
      opened.set(session, next)
      for (const changed of view.shown) changed(next)
    }
    readSession(session, ask, known, { signal, wholeAt: heads.get(session) }).then(
      (head) => {
        if (!signal.aborted) heads.set(session, head)
      },
      (error: unknown) => known({ problem: messageOf(error) }),
    )
  }
  const changes: Changes = {
    compact,
    async make(session, call, body) {
      await ask(`sessions/${session}/${call}`, undefined, { method: "POST", body: JSON.stringify(body) })
      const view = views.get(session)
      if (view !== undefined) read(session, view)
    },
    async remove(session) {
      await ask(`sessions/${session}`, undefined, { method: "DELETE" })
      opened.delete(session)
      heads.delete(session)
    },
  }
  return {
    first: undefined,
    peek: (session) => opened.get(session),
    open(session, changed) {
      const view = views.get(session) ?? { shown: new Set(), reading: new AbortController() }
      views.set(session, view)
      view.shown.add(changed)
      read(session, view)
      return () => {
        view.shown.delete(changed)
        if (view.shown.size > 0) return
        view.reading.abort()
        views.delete(session)
      }
    },
    ...(write ? { changes } : {}),
    list: {
      page: (words, cursor, signal) =>
        get(
          `sessions?${new URLSearchParams({ words, ...(cursor === undefined ? {} : { cursor }) }).toString()}`,
          (value) => value as Listed & { store: string },
          signal,
        ),
      search: (words, signal) =>
        get(
          `search?${new URLSearchParams({ words }).toString()}`,
          (value) => (value as { hits: readonly FoundEntry[] | null }).hits ?? undefined,
          signal,
        ),
    },
    async save(session, format) {
      const response = await ask(`sessions/${session}/export?format=${format}`)
      const link = document.createElement("a")
      link.href = URL.createObjectURL(await response.blob())
      link.download = `${session}.${format}`
      link.click()
      // The browser has taken the address when the click returns; the bytes stay until the download has ended.
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    },
  }
}

/** The places that show a session, and what reads it for them. */
interface View {
  readonly shown: Set<(opened: Opened) => void>
  reading: AbortController
}

type Ask = (path: string, signal?: AbortSignal) => Promise<Response>

/** The end first, then the whole; nothing new if the log still ends where the whole did that is shown. Returns where it ends. */
async function readSession(
  id: string,
  ask: Ask,
  known: (opened: Opened) => void,
  { signal, wholeAt }: { readonly signal: AbortSignal; readonly wholeAt: string | undefined },
): Promise<string> {
  const end = (await (await ask(`sessions/${id}`, signal)).json()) as End
  if (end.head === wholeAt) return wholeAt
  // With the whole on the screen its end alone would be less.
  const order = new FindsFirst()
  if (wholeAt === undefined)
    known({ data: sessionData(id, ask, order, end.summary, undefined, rowsOf(end.rows), new Map(end.entries)) })
  const { summary, rows, head } = await order.read(
    async (signal) => wholeOf(await ask(`sessions/${id}/whole`, signal)),
    signal,
  )
  known({ data: sessionData(id, ask, order, summary, summary, rows, new Map()) })
  return head
}

function rowsOf(rows: readonly Row[]): ReadonlyMap<number, Row> {
  return new Map(rows.map((row) => [row.seq, row]))
}

/** `entries`: those that are here already. */
function sessionData(
  id: string,
  ask: Ask,
  order: FindsFirst,
  summary: SessionData["summary"],
  whole: Summary | undefined,
  rows: ReadonlyMap<number, Row>,
  entries: Map<number, StoredEntry>,
): SessionData {
  return {
    whole,
    summary,
    rows,
    async context() {
      return (await (await ask(`sessions/${id}/context`)).json()) as ContextView
    },
    async load(seqs) {
      const missing = seqs.filter((seq) => !entries.has(seq))
      const read = () => readEntries(id, ask, missing, entries)
      if (missing.length > 0) await (whole === undefined ? order.find(read) : read())
      const found = new Map<number, StoredEntry>()
      for (const seq of seqs) {
        const stored = entries.get(seq)
        if (stored !== undefined) found.set(seq, stored)
      }
      return found
    },
    find: (words, found, signal) => order.find(() => findWords(id, ask, words, found, signal)),
  }
}

async function readEntries(
  id: string,
  ask: Ask,
  seqs: readonly number[],
  entries: Map<number, StoredEntry>,
): Promise<void> {
  for (let start = 0; start < seqs.length; start += MAX_SEQS) {
    const some = seqs.slice(start, start + MAX_SEQS).join(",")
    const answer = (await (await ask(`sessions/${id}/entries?seqs=${some}`)).json()) as Pick<End, "entries">
    for (const [seq, stored] of answer.entries) entries.set(seq, stored)
  }
}

async function findWords(
  id: string,
  ask: Ask,
  words: string,
  found: (row: Row) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const stop = new AbortController()
  const path = `sessions/${id}/find?${new URLSearchParams({ words }).toString()}`
  for await (const line of linesOf(await ask(path, AbortSignal.any([signal, stop.signal]))))
    if (!found(JSON.parse(line) as Row)) return stop.abort()
}

const MAX_SEQS = 500

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
