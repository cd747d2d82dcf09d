/** The page of one session: its head, the tabs and the search field. */
import type { VNode } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { Compactions } from "./compactions.tsx"
import { Context } from "./context.tsx"
import { Conversation } from "./conversation.tsx"
import { Details } from "./details.tsx"
import { DiagnosticsTab } from "./diagnostics.tsx"
import { Find } from "./find.tsx"
import { formatCount, formatTime } from "./format.ts"
import { listenToKeys } from "./keys.ts"
import { seqOfId } from "./paths.ts"
import { parseRoute, type Route, type Tab, TABS, toHash } from "./route.ts"
import type { SessionData, Source } from "./source.ts"
import { Tree } from "./tree.tsx"
import { Usage } from "./usage.tsx"

export function App({ source }: { readonly source: Source }): VNode {
  const route = useRoute()
  const id = route.session ?? source.first
  const data = source.open(id)
  if (data === undefined)
    return (
      <main>
        <p class="notice">
          This page has no session {id}. <a href="#">First session</a>
        </p>
      </main>
    )
  const session = id === source.first ? undefined : id
  return <SessionPage key={id} source={source} data={data} session={session} route={route} />
}

interface SessionPageProps {
  readonly source: Source
  readonly data: SessionData
  readonly session: string | undefined
  readonly route: Route
}

function SessionPage({ source, data, session, route }: SessionPageProps): VNode {
  const [words, setWords] = useState("")
  const search = useRef<HTMLInputElement>(null)
  const of = session === undefined ? {} : { session }
  useEffect(() => setWords(""), [route])
  useEffect(
    () =>
      listenToKeys({
        toTab: (tab) => void (location.hash = toHash({ ...of, tab })),
        toSearch: () => search.current?.focus(),
      }),
    [session],
  )
  const { info, redacted, diagnostics } = data.summary
  return (
    <>
      <header class="page-head">
        <h1>{titleOf(data)}</h1>
        <p class="facts">
          {session === undefined ? null : <a href="#">Back to the first session</a>}
          <span>{formatCount(info.messageCount, "message")}</span>
          <span>{formatTime(info.lastMessageAt)}</span>
          {info.cwd === undefined ? null : <span>{info.cwd}</span>}
          {redacted ? <span class="badge">redacted</span> : null}
        </p>
        <form role="search" onSubmit={(event) => event.preventDefault()}>
          <input
            ref={search}
            type="search"
            aria-label="Find in this session"
            placeholder="Find in this session ( / )"
            value={words}
            onInput={({ currentTarget }) => setWords(currentTarget.value)}
          />
        </form>
        <nav aria-label="Views">
          {TABS.map((tab) => (
            <a key={tab} href={toHash({ ...of, tab })} aria-current={tab === route.tab ? "page" : undefined}>
              {NAMES[tab]}
              {tab === "diagnostics" && diagnostics.length > 0 ? (
                <span class="badge warn">{diagnostics.length}</span>
              ) : null}
            </a>
          ))}
        </nav>
      </header>
      <main>
        {words.trim() === "" ? (
          <TabContent source={source} data={data} session={session} route={route} />
        ) : (
          <Find data={data} session={session} words={words.trim()} onOpen={() => setWords("")} />
        )}
      </main>
      <footer>Keys: j and k next and previous entry, / find, 1 to {TABS.length} views</footer>
    </>
  )
}

const NAMES: Readonly<Record<Tab, string>> = {
  conversation: "Conversation",
  tree: "Tree",
  context: "Context",
  usage: "Usage",
  compactions: "Compactions",
  diagnostics: "Diagnostics",
  details: "Details",
}

function TabContent({ source, data, session, route }: SessionPageProps): VNode {
  const { diagnostics, damaged } = data.summary
  switch (route.tab) {
    case "conversation": {
      const target = route.entry === undefined ? undefined : seqOfId(data.rows, route.entry)
      return (
        <>
          {route.entry !== undefined && target === undefined ? (
            <p class="notice">The session has no entry {route.entry}.</p>
          ) : null}
          <Conversation source={source} data={data} session={session} target={target} depth={0} />
        </>
      )
    }
    case "tree":
      return <Tree data={data} session={session} />
    case "context":
      return <Context data={data} session={session} />
    case "usage":
      return <Usage data={data} />
    case "compactions":
      return <Compactions data={data} session={session} />
    case "diagnostics":
      return <DiagnosticsTab diagnostics={diagnostics} damaged={damaged} session={session} />
    case "details":
      return <Details data={data} />
  }
}

function titleOf({ summary: { id, info }, rows }: SessionData): string {
  if (info.title !== undefined && info.title !== "") return info.title
  for (const { role, text } of rows.values()) if (role === "user" && text !== "") return text
  return `Session ${id}`
}

function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const onChange = (): void => setHash(location.hash)
    addEventListener("hashchange", onChange)
    return () => removeEventListener("hashchange", onChange)
  }, [])
  return useMemo(() => parseRoute(hash), [hash])
}
