/** Reads the data blocks of a page, as the view does. */
import type { ContextView, Row, StoredEntry, Summary } from "../src/model/types.ts"

export interface PageData {
  readonly entries: ReadonlyMap<number, StoredEntry>
  readonly rows: readonly Row[]
  readonly summary: Summary
  readonly context: ContextView
}

export async function textOf(chunks: AsyncIterable<string>): Promise<string> {
  let text = ""
  for await (const chunk of chunks) text += chunk
  return text
}

/** By session. */
export function dataOf(html: string): ReadonlyMap<string, PageData> {
  interface Read extends PageData {
    readonly entries: Map<number, StoredEntry>
    readonly rows: Row[]
    summary: Summary
    context: ContextView
  }
  const sessions = new Map<string, Read>()
  const blocks = /<script type="application\/json" data-session="([^"]+)" data-kind="([a-z]+)"[^>]*>(.*?)<\/script>/gs
  for (const [, session = "", kind, json = ""] of html.matchAll(blocks)) {
    const data: Read = sessions.get(session) ?? {
      entries: new Map(),
      rows: [],
      summary: {} as Summary,
      context: {} as ContextView,
    }
    sessions.set(session, data)
    const value: unknown = JSON.parse(json)
    if (kind === "rows") data.rows.push(...(value as Row[]))
    else if (kind === "context") data.context = value as ContextView
    else if (kind === "summary") data.summary = value as Summary
    else for (const [seq, stored] of value as [number, StoredEntry][]) data.entries.set(seq, stored)
  }
  return sessions
}

export function pageOf(html: string, session: string): PageData {
  const data = dataOf(html).get(session)
  if (data === undefined) throw new Error(`The page has no session ${session}.`)
  return data
}
