/** Storages with names of their own, which can be killed, and what a reader sees of a session in each. */
import { createMemoryStorage } from "@sessions/memory"
import type { Entry } from "../src/format/entry.ts"
import { EntryLog } from "../src/log/entry-log.ts"
import { pathTo } from "../src/log/walk.ts"
import { parseEntry } from "../src/log/parse-entry.ts"
import { createSessions } from "../src/session/repository.ts"
import type { SessionStorage } from "../src/storage/contract.ts"
import { StorageError } from "../src/storage/errors.ts"
import { linesIn } from "./transfer.ts"
import { sessionTree } from "@sessions/core/transfer"

/** Counts down with each append, document and blob of all storages; at 0 the process that writes is gone. */
export interface Fuse {
  left: number
  /** Whether the last write before the end arrived. */
  arrives: boolean
  /** Called before each write. */
  meanwhile?: (() => Promise<void>) | undefined
}

export function storeNamed(
  description: string,
  fuse: Fuse = { left: Number.POSITIVE_INFINITY, arrives: false },
  storage: SessionStorage = createMemoryStorage(),
): SessionStorage {
  const spend = async <T>(write: () => Promise<T>): Promise<T> => {
    await fuse.meanwhile?.()
    if (--fuse.left > 0) return write()
    if (fuse.left === 0 && fuse.arrives) await write()
    throw new StorageError("closed", "The process was killed.")
  }
  return {
    ...storage,
    description,
    append: (id, lines, o) => spend(() => storage.append(id, lines, o)),
    docs: { ...storage.docs, put: (key, text, o) => spend(() => storage.docs.put(key, text, o)) },
    blobs: { ...storage.blobs, put: (bytes, o) => spend(() => storage.blobs.put(bytes, o)) },
  }
}

export async function entriesIn(storage: SessionStorage, id: string): Promise<Entry[]> {
  const lines = await linesIn(storage, id)
  return lines.slice(1).flatMap((line, index) => parseEntry(line, index + 1) ?? [])
}

interface Seen {
  readonly info: { readonly tips: readonly string[]; readonly [field: string]: unknown }
  readonly [part: string]: unknown
}

/** What must be the same in merged storages. */
export async function seenIn(storage: SessionStorage, id: string): Promise<Seen> {
  const sessions = createSessions({ storage: { ...storage, [Symbol.asyncDispose]: async () => undefined } })
  const { title, titleSource, metadata, cwd, openTips } = await sessions.info(id)
  const session = await sessions.open(id)
  const labels: unknown[] = []
  const deleted: string[] = []
  const { roots } = await sessionTree(session)
  const nodes = [...roots]
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    nodes.push(...node.children)
    if (node.label !== undefined) labels.push([node.entry.id, node.label])
    if (node.deleted === true) deleted.push(node.entry.id)
  }
  const tips = (openTips?.tips ?? []).map((tip) => tip.id).toSorted()
  const { messages } = await session.context()
  await session.close()
  const whole = EntryLog.of([undefined, ...(await entriesIn(storage, id))])
  const pathOf = (tip: string): readonly string[] =>
    pathTo(whole, whole.find(tip) as number).seqs.map((seq) => (whole.at(seq) as Entry).id)
  const ofPlace = new Set(["seq", "writtenAt", "targetSeq", "firstKeptSeq"])
  const contents = (await entriesIn(storage, id)).map((entry) =>
    Object.fromEntries(Object.entries(entry).filter(([key]) => !ofPlace.has(key))),
  )
  return {
    info: { title, titleSource, metadata, cwd, tips },
    labels: labels.map((label) => JSON.stringify(label)).toSorted(),
    deleted: deleted.toSorted(),
    context: messages.map(({ entryId, message }) => [entryId, message]),
    paths: tips.map(pathOf),
    entries: contents.map((entry) => JSON.stringify(entry)).toSorted(),
  }
}
