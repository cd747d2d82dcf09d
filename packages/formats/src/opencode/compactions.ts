/** A compaction of opencode is two messages: a user's request, with a part `compaction`, and the summary that names it as its parent. */
import { type Fields, fieldsOf, isObject, stringOf } from "../base/values.ts"
import { COMPACTION } from "./messages.ts"

/** The fields of a message that tell what it is. */
type Info = { readonly info: Fields }

/** The summary of a compaction that was not stopped. */
export function isSummary({ info }: Info): boolean {
  return info["summary"] === true && typeof info["finish"] === "string" && !isObject(info["error"])
}

export interface Compactions {
  /** The ids of requests for a summary that get none any more: opencode sends them, and what was said of the summary. */
  readonly stopped: ReadonlySet<unknown>
  /** The id of the one that is being answered at the end of the document: its summary is not said before it is whole. */
  readonly open: unknown
}

export function compactionsOf(messages: readonly Fields[]): Compactions {
  const stopped = new Set<unknown>()
  let open: unknown
  for (const message of messages) {
    const info = fieldsOf(message["info"])
    const isFailed = isObject(info["error"])
    if (info["role"] === "user") {
      if (open !== undefined) stopped.add(open)
      open = hasCompaction(message) ? info["id"] : undefined
    } else if (open !== undefined && info["parentID"] === open && (isFailed || isSummary({ info }))) {
      if (isFailed) stopped.add(open)
      open = undefined
    }
  }
  return { stopped, open }
}

export function isOpen({ info: { parentID } }: Info, { open }: Compactions): boolean {
  return open !== undefined && parentID === open
}

export function hasCompaction(message: object): boolean {
  return partsOf({ ...message }).some(({ type }) => type === "compaction")
}

export function partsOf(message: Fields | undefined): readonly Fields[] {
  const parts = message?.["parts"]
  return Array.isArray(parts) ? (parts as readonly unknown[]).filter(isObject) : []
}

/** A message of a document that is written. */
export interface WrittenMessage {
  readonly record: unknown
  /** Seq of the last entry of the path in it; undefined if no compaction keeps anything of it. */
  readonly seq: number | undefined
  /** Written anew; others are records of the document that was imported. */
  readonly isNew?: true
  /** Of a compaction that is written anew. */
  readonly isSummary?: true
  /** A request whose summary is, or would be, a compaction of the session: it is not in the context itself. */
  readonly isWaiting?: true
}

/**
 * The messages without requests that the context does not have, and with a text in place of those that it has: opencode and the import take
 * a request for what the messages behind it make of it. `unanswered`: ids of requests whose summary is in the session, and not in the file.
 * `unfinished` counts those that were being answered when the session went on without opencode.
 */
export function withoutOpenRequests(
  written: readonly WrittenMessage[],
  unanswered: ReadonlySet<unknown>,
): { readonly written: readonly WrittenMessage[]; readonly unfinished: number } {
  const infos = written.map(({ record }) => fieldsOf(fieldsOf(record)["info"]))
  const answered = new Set(infos.filter((info) => isSummary({ info })).map(({ parentID }) => parentID))
  const lastNew = written.findLastIndex(({ isNew }) => isNew === true)
  const left = new Set<number>()
  /** The ids of requests that are left out, with that of the question before each. */
  const askedBefore = new Map<unknown, unknown>()
  let asked: unknown
  for (const [at, { id, role }] of infos.entries()) {
    const isOpen = written[at]?.isWaiting === true && !answered.has(id)
    if (isOpen && (unanswered.has(id) || at < lastNew)) {
      left.add(at)
      if (id !== undefined) askedBefore.set(id, asked)
    } else if (role === "user") asked = id
  }
  const kept = written.flatMap((message, at) => {
    const { parentID, summary } = infos[at] ?? {}
    if (left.has(at)) return []
    if (!askedBefore.has(parentID)) return [message]
    return message.isNew === true ? [withParent(message, askedBefore.get(parentID))] : summary === true ? [] : [message]
  })
  const { stopped } = compactionsOf(kept.map(({ record }) => fieldsOf(record)))
  return {
    written: kept.map((message) => (isSaid(message) && !stopped.has(rawIdOf(message)) ? asText(message) : message)),
    unfinished: [...left].filter((at) => !unanswered.has(infos[at]?.["id"])).length,
  }
}

/** In a damaged document an id may be anything. */
function rawIdOf({ record }: WrittenMessage): unknown {
  return fieldsOf(fieldsOf(record)["info"])["id"]
}

/** Whether it is a request that opencode sends, as it got no summary. */
function isSaid({ record, isNew, isWaiting }: WrittenMessage): boolean {
  const { info, parts } = fieldsOf(record)
  const isRequest = fieldsOf(info)["role"] === "user" && hasCompaction({ parts })
  return isRequest && isNew !== true && isWaiting !== true
}

function asText(message: WrittenMessage): WrittenMessage {
  const record = fieldsOf(message.record)
  const text = { type: "text", text: COMPACTION, synthetic: true }
  const parts = partsOf(record).map(({ id, sessionID, messageID, ...part }) =>
    part["type"] === "compaction" ? { id, sessionID, messageID, ...text } : { id, sessionID, messageID, ...part },
  )
  return { ...message, record: { ...record, parts } }
}

function withParent(message: WrittenMessage, parentID: unknown): WrittenMessage {
  const record = fieldsOf(message.record)
  const info = fieldsOf(record["info"])
  return { ...message, record: { ...record, info: { ...info, parentID: parentID ?? info["id"] } } }
}

export function idOf(record: unknown): string | undefined {
  return stringOf(fieldsOf(fieldsOf(record)["info"])["id"])
}
