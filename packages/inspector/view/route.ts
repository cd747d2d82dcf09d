/**
 * Links of the page, kept in the fragment: `#ENTRY` is an entry of the first session, `#!TAB` one of its tabs, and `#@SESSION`,
 * `#@SESSION/ENTRY`, `#@SESSION/!TAB` name another session. `#!compare/ENTRY/ENTRY` compares the branches that end in two entries.
 */

export const TABS = [
  "conversation",
  "tree",
  "compare",
  "context",
  "usage",
  "compactions",
  "diagnostics",
  "details",
] as const
export type Tab = (typeof TABS)[number]

export interface Route {
  /** Missing: the first session of the page. */
  readonly session?: string
  readonly tab: Tab
  /** An entry id, with the tab `conversation` alone. */
  readonly entry?: string
  /** The ids of two entries, with the tab `compare` alone. */
  readonly sides?: readonly [left: string, right: string]
}

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#/, "")
  const [, session, rest = ""] = /^@([^/]*)\/?(.*)$/s.exec(text) ?? [undefined, undefined, text]
  const of = session === undefined || session === "" ? {} : { session: decoded(session) }
  const [, left, right] = /^!compare\/([^/]+)\/([^/]+)$/.exec(rest) ?? []
  if (left !== undefined && right !== undefined)
    return { ...of, tab: "compare", sides: [decoded(left), decoded(right)] }
  if (rest.startsWith("!")) return { ...of, tab: TABS.find((tab) => tab === rest.slice(1)) ?? "conversation" }
  return rest === "" ? { ...of, tab: "conversation" } : { ...of, tab: "conversation", entry: decoded(rest) }
}

export function toHash({ session, tab, entry, sides }: Route): string {
  const prefix = session === undefined ? "#" : `#@${encoded(session)}/`
  if (entry !== undefined) return `${prefix}${encoded(entry)}`
  return `${prefix}!${tab}${sides === undefined ? "" : sides.map((id) => `/${encoded(id)}`).join("")}`
}

/** Without `!`, which has a meaning at the start. Half of a surrogate pair has no place in an address. */
function encoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, "\ufffd")).replace(/!/g, "%21")
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
