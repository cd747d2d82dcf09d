/** Finds the branch of a log that has most of the messages to save, so that returning to it writes none of them again. */
import type { Entry, NewEntry, Session } from "@sessions/core"
import { type Difference, difference } from "./difference.ts"
import { isObject } from "./json.ts"
import { openCalls } from "./results.ts"
import type { End } from "./session.ts"
import type { ChatMessage } from "./types.ts"

/**
 * The difference to the end of the log or, if that repeats messages of another branch, to that branch. Other branches are read only if the
 * messages leave the path, or the path ends where others go on.
 */
export async function leastDifference(
  session: Session,
  { path }: End,
  messages: readonly ChatMessage[],
): Promise<Difference> {
  // Only results that are not stored depend on the open calls, for which a page loads code.
  let asked: ReturnType<typeof openCalls> | undefined
  const open = (): ReturnType<typeof openCalls> => (asked ??= openCalls(session))
  let found = difference(path, messages)
  if (found.at !== undefined || found.entries.some(isResult)) found = difference(path, messages, await open())
  const first = found.entries.find(({ type }) => type === "message")
  const last = path.findLast(({ type }) => type === "message" || type === "leaf")
  const isAtBranch = found.at !== undefined || last?.type !== "message"
  if (first === undefined || !isAtBranch) return found
  let least = found
  for (const branch of await branchesWith(session, idOf(first), messages)) {
    const other = difference(branch, messages, await open())
    if (countMessages(other) < countMessages(least)) least = { ...other, at: other.at ?? branch.at(-1)?.id ?? null }
    if (countMessages(least) === 0) break
  }
  return least
}

function isResult(entry: NewEntry): boolean {
  return entry.type === "message" && (entry["message"] as { readonly role?: unknown }).role === "toolResult"
}

/** More than the versions of a chat that begin alike. Each is compared as a whole. */
const MOST_BRANCHES = 32

/** The paths to the ends of the branches with this message, those that begin with the most of the messages first, the newest before others. */
async function branchesWith(
  session: Session,
  id: unknown,
  messages: readonly ChatMessage[],
): Promise<readonly Entry[][]> {
  const byId = new Map<string, Entry>()
  const deleted = new Set<unknown>()
  /** Ends of branches with the message. */
  const ends = new Set<string>()
  const isBehind = new Set<string>()
  for await (const entry of session.entries()) {
    byId.set(entry.id, entry)
    if (entry.type === "tombstone") deleted.add(entry.targetId)
    const { parentId } = entry
    if (idOf(entry) !== id && (parentId === null || !isBehind.has(parentId))) continue
    isBehind.add(entry.id)
    ends.add(entry.id)
    if (parentId !== null) ends.delete(parentId)
  }
  return (
    [...ends]
      .reverse()
      .map((end) => pathTo(end, byId))
      // What is deleted is not loaded, so such a branch has other messages.
      .filter((path) => !path.some((entry) => deleted.has(entry.id)))
      .map((path) => ({ path, common: countCommon(path, messages) }))
      .sort((a, b) => b.common - a.common)
      .slice(0, MOST_BRANCHES)
      .map(({ path }) => path)
  )
}

function pathTo(end: string, byId: ReadonlyMap<string, Entry>): Entry[] {
  const path: Entry[] = []
  for (let id: string | null = end; id !== null; ) {
    const entry = byId.get(id)
    if (entry === undefined) break
    path.push(entry)
    id = entry.parentId
  }
  return path.reverse()
}

/** How many messages the path begins with that have the ids of these. */
function countCommon(path: readonly Entry[], messages: readonly ChatMessage[]): number {
  const ids = path.filter((entry) => isObject(entry["ui"]) && entry["ui"]["from"] === 0).map(idOf)
  const end = ids.findIndex((id, index) => messages[index]?.id !== id)
  return end === -1 ? ids.length : end
}

function idOf(entry: object): unknown {
  const { ui } = entry as { readonly ui?: unknown }
  return isObject(ui) ? ui["id"] : undefined
}

function countMessages({ entries }: Difference): number {
  return entries.filter(({ type }) => type === "message").length
}
