/** The sessions of a server, newest message first; with words, those that have them in their title or in an entry. */
import type { VNode } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import type { FoundEntry } from "../src/serve/inspector.ts"
import type { Listed } from "../src/serve/list.ts"
import { nameOf } from "./entry.tsx"
import { formatBytes, formatCount, formatTime } from "./format.ts"
import { listenToKeys } from "./keys.ts"
import { toHash } from "./route.ts"
import type { SessionList } from "./source.ts"

interface Shown extends Listed {
  readonly store: string
}

export function Sessions({ list }: { readonly list: SessionList }): VNode {
  const [words, setWords] = useState("")
  const [shown, setShown] = useState<Shown>()
  const [problem, setProblem] = useState<string>()
  const search = useRef<HTMLInputElement>(null)
  const add = async (cursor: string | undefined, signal: AbortSignal): Promise<void> => {
    const page = await list.page(words, cursor, signal)
    if (signal.aborted) return
    setProblem(undefined)
    setShown((before) =>
      cursor === undefined || before === undefined
        ? page
        : {
            ...page,
            sessions: [...before.sessions, ...page.sessions],
            unreadable: [...before.unreadable, ...page.unreadable],
          },
    )
  }
  useEffect(() => {
    const stop = new AbortController()
    add(undefined, stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted) setProblem(String(error))
    })
    return () => stop.abort()
  }, [list, words])
  useEffect(() => listenToKeys({ toTab: () => undefined, toSearch: () => search.current?.focus() }), [])
  return (
    <>
      <header class="page-head">
        <h1>Sessions</h1>
        <p class="facts">{shown?.store}</p>
        <form role="search" onSubmit={(event) => event.preventDefault()}>
          <input
            ref={search}
            type="search"
            aria-label="Find sessions"
            placeholder="Find sessions ( / )"
            value={words}
            onInput={({ currentTarget }) => setWords(currentTarget.value)}
          />
        </form>
      </header>
      <main>
        {problem === undefined ? null : <p class="notice">{problem}</p>}
        {words.trim() === "" ? null : <Hits list={list} words={words.trim()} />}
        <h2>
          {words.trim() === "" ? "All sessions" : "Sessions with these words in their title, first prompt or folder"}
        </h2>
        {shown === undefined ? <p class="note">Reading…</p> : null}
        {shown?.sessions.length === 0 ? <p class="note">None.</p> : null}
        <ul class="entries">
          {shown?.sessions.map((info) => (
            <li key={info.id}>
              <a href={toHash({ session: info.id, tab: "conversation" })}>
                {info.title ?? info.firstPrompt ?? info.id}
              </a>
              <span class="facts">
                <span>{formatTime(info.lastMessageAt)}</span>
                <span>{formatCount(info.messageCount, "message")}</span>
                <span>{formatBytes(info.bytes)}</span>
                {info.kind === undefined ? null : <span class="badge">{info.kind}</span>}
                {info.cwd === undefined ? null : <span>{info.cwd}</span>}
              </span>
            </li>
          ))}
          {shown?.unreadable.map(({ id, message }) => (
            <li key={id}>
              <span class="badge bad">cannot be read</span> {id}: {message}
            </li>
          ))}
        </ul>
        {shown?.next === undefined ? null : (
          <button
            type="button"
            class="more"
            onClick={() =>
              void add(shown.next, new AbortController().signal).catch((error: unknown) => setProblem(String(error)))
            }
          >
            Show older sessions
          </button>
        )}
      </main>
    </>
  )
}

/** After the last key: a search over all sessions is no work for each letter. */
const PAUSE_MS = 300

function Hits({ list, words }: { readonly list: SessionList; readonly words: string }): VNode | null {
  const [{ of, hits, problem }, setHits] = useState<{
    of: string
    hits: readonly FoundEntry[] | undefined
    problem?: string
  }>({ of: "", hits: undefined })
  useEffect(() => {
    const stop = new AbortController()
    const timer = setTimeout(() => {
      list.search(words, stop.signal).then(
        (hits) => setHits({ of: words, hits }),
        (error: unknown) => {
          if (!stop.signal.aborted) setHits({ of: words, hits: undefined, problem: String(error) })
        },
      )
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [list, words])
  const isReady = of === words
  if (isReady && hits === undefined && problem === undefined) return null
  return (
    <>
      <h2>Entries</h2>
      <p role="status" class="note">
        {isReady ? (problem ?? formatCount(hits?.length ?? 0, "entry", "entries")) : "Looking in all sessions…"}
      </p>
      <ul class="entries">
        {(isReady ? (hits ?? []) : []).map(({ session, entryId, timestamp, role, snippet }) => (
          <li key={`${session} ${entryId}`}>
            <a href={toHash({ session, tab: "conversation", entry: entryId })}>
              <span class="kind">{nameOf({ type: "message", role })}</span>{" "}
              {snippet.map(({ text, match }, index) => (match ? <mark key={index}>{text}</mark> : text))}
            </a>
            <span class="facts">
              <span>{formatTime(timestamp)}</span>
              <span>{session}</span>
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}
