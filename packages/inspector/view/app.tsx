/** The page of one session: its head, the tabs and the search field. */
import type { VNode } from "preact"
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { ChangesContext, SessionChanges } from "./changes.tsx"
import { Compactions } from "./compactions.tsx"
import { Compare } from "./compare-tab.tsx"
import { Context } from "./context.tsx"
import { Conversation, EntryAlone } from "./conversation.tsx"
import { Details } from "./details.tsx"
import { DiagnosticsTab } from "./diagnostics.tsx"
import { Find } from "./find.tsx"
import { formatCount, formatTime } from "./format.ts"
import { listenToKeys } from "./keys.ts"
import type { Row } from "../src/model/types.ts"
import { seqOfId } from "./paths.ts"
import { parseRoute, type Route, type Tab, TABS, toHash } from "./route.ts"
import { Sessions } from "./sessions.tsx"
import type { SessionData, Source } from "./source.ts"
import { Tree } from "./tree.tsx"
import { Usage } from "./usage.tsx"
import { useSession } from "./use-session.ts"

export function App({ source }: { readonly source: Source }): VNode {
  const route = useRoute()
  const id = route.session ?? source.first
  if (id === undefined) return source.list === undefined ? <main /> : <Sessions list={source.list} />
  return <OneSession key={id} source={source} id={id} route={route} />
}

function OneSession({
  source,
  id,
  route,
}: {
  readonly source: Source
  readonly id: string
  readonly route: Route
}): VNode {
  const opened = useSession(source, id)
  if (opened !== undefined && "data" in opened)
    return (
      <ChangesContext.Provider value={source.changes}>
        <SessionPage source={source} data={opened.data} session={id === source.first ? undefined : id} route={route} />
      </ChangesContext.Provider>
    )
  return (
    <main>
      {opened === undefined ? (
        <p class="note">Reading…</p>
      ) : (
        <p class="notice">
          {opened.problem} <a href="#">{source.list === undefined ? "First session" : "All sessions"}</a>
        </p>
      )}
    </main>
  )
}

interface SessionPageProps {
  readonly source: Source
  readonly data: SessionData
  readonly session: string | undefined
  readonly route: Route
}

function SessionPage({ source, data, session, route }: SessionPageProps): VNode {
  const [words, setWords] = useState("")
  const [found, setFound] = useState<Row>()
  const onOpen = (row: Row): void => {
    setFound(row)
    setWords("")
  }
  const search = useRef<HTMLInputElement>(null)
  const of = session === undefined ? {} : { session }
  // Before the new view is shown: a later effect would clear what was typed in it meanwhile.
  useLayoutEffect(() => setWords(""), [route])
  useEffect(() => {
    if (route.tab !== "conversation") scrollTo(0, 0)
  }, [route.tab])
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
          {session === undefined ? null : (
            <a href="#">{source.list === undefined ? "Back to the first session" : "All sessions"}</a>
          )}
          <span>{formatCount(info.messageCount, "message")}</span>
          <span>{formatTime(info.lastMessageAt)}</span>
          {info.cwd === undefined ? null : <span>{info.cwd}</span>}
          {redacted ? <span class="badge">redacted</span> : null}
          <Save source={source} id={data.summary.id} />
        </p>
        <SessionChanges id={data.summary.id} title={info.title ?? ""} />
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
          <TabContent source={source} data={data} session={session} route={route} found={found} />
        ) : (
          <Find data={data} session={session} words={words.trim()} onOpen={onOpen} />
        )}
      </main>
      <footer>
        <button type="button" onClick={() => scrollTo(0, 0)}>
          to the top
        </button>{" "}
        Keys: j and k next and previous entry, / find, 1 to {TABS.length} views
      </footer>
    </>
  )
}

function Save({ source: { save }, id }: { readonly source: Source; readonly id: string }): VNode | null {
  const [problem, setProblem] = useState<string>()
  if (save === undefined) return null
  const start = (format: "html" | "jsonl"): void => {
    setProblem(undefined)
    save(id, format).catch((error: unknown) => setProblem(String(error)))
  }
  return (
    <>
      <button type="button" onClick={() => start("html")}>
        save as page
      </button>
      <button type="button" onClick={() => start("jsonl")}>
        save log
      </button>
      {problem === undefined ? null : <span class="badge bad">{problem}</span>}
    </>
  )
}

const NAMES: Readonly<Record<Tab, string>> = {
  conversation: "Conversation",
  tree: "Tree",
  compare: "Compare",
  context: "Context",
  usage: "Usage",
  compactions: "Compactions",
  diagnostics: "Diagnostics",
  details: "Details",
}

interface TabContentProps extends SessionPageProps {
  /** The entry that was opened last from what was found. */
  readonly found: Row | undefined
}

function TabContent({ source, data, session, route, found }: TabContentProps): VNode {
  const { whole } = data
  if (route.tab === "conversation") {
    const target = route.entry === undefined ? undefined : seqOfId(data.rows, route.entry)
    const isMissing = route.entry !== undefined && target === undefined
    // The entry may be before the end of the session.
    if (isMissing && whole === undefined)
      return found !== undefined && found.id === route.entry ? (
        <EntryAlone data={data} session={session} row={found} />
      ) : (
        <p class="note">Reading the whole session…</p>
      )
    return (
      <>
        {isMissing ? <p class="notice">The session has no entry {route.entry}.</p> : null}
        <Conversation source={source} data={data} session={session} target={target} depth={0} />
      </>
    )
  }
  if (route.tab === "context") return <Context data={data} session={session} />
  if (whole === undefined) return <p class="note">Reading the whole session…</p>
  const props = { data, summary: whole, session }
  switch (route.tab) {
    case "tree":
      return <Tree {...props} />
    case "compare":
      return <Compare {...props} sides={route.sides} />
    case "usage":
      return <Usage {...props} />
    case "compactions":
      return <Compactions {...props} />
    case "diagnostics":
      return <DiagnosticsTab diagnostics={whole.diagnostics} damaged={whole.damaged} session={session} />
    case "details":
      return <Details {...props} />
  }
}

function titleOf({ summary: { id, info }, rows }: SessionData): string {
  if (info.title !== undefined && info.title !== "") return info.title
  if (info.firstPrompt !== undefined && info.firstPrompt !== "") return info.firstPrompt
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
