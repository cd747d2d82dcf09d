/** `createClaudeStore`: the calls of the SDK's session store, one after the other for each transcript, and the transcripts that are open. */
import { hasCode, SessionError, type SessionInfo } from "@sessions/core"
import { checkOptions, createQueue, type Queue, StorageError } from "@sessions/core/storage"
import { checkKey, isKeyOf, KIND, PART_SUFFIX, partOf, projectPrefixOf, sessionIdOf, transcriptOf } from "./keys.ts"
import { SUMMARY } from "./known.ts"
import { Transcript } from "./transcript.ts"
import type { ClaudeStore, ClaudeStoreOptions, SessionKey, SessionStoreEntry, SessionSummaryEntry } from "./types.ts"

const MAX_OPEN_BYTES = 67_108_864
/** Rows of a page of a list: the most that core gives. */
const PAGE = 200

/** Makes the session store of a repository. Use one store for each repository. */
export function createClaudeStore(options: ClaudeStoreOptions): ClaudeStore {
  checkOptions("createClaudeStore", options, { sessions: 1, foldSessionSummary: 1, maxOpenBytes: 1 })
  const { sessions, foldSessionSummary: fold, maxOpenBytes = MAX_OPEN_BYTES } = options
  /** By key, the one that was used last at the end. */
  const open = new Map<string, OpenTranscript>()
  const running = new Set<Promise<unknown>>()
  let isClosed = false

  /** Refuses calls after `close`, which waits for the others. */
  function call<T>(run: () => Promise<T>): Promise<T> {
    if (isClosed) return Promise.reject(new SessionError("closed", "The session store was closed."))
    const result = run()
    const settled = result.then(ignore, ignore).finally(() => running.delete(settled))
    running.add(settled)
    return result
  }

  /** Runs after the earlier calls on the transcript. */
  async function use<T>(key: SessionKey, run: (transcript: Transcript) => Promise<T>): Promise<T> {
    checkKey(key)
    const name = JSON.stringify([key.projectKey, key.sessionId, key.subpath])
    const held = open.get(name) ?? newTranscript(key)
    open.delete(name)
    open.set(name, held)
    try {
      return await held.queue.run(() => run(held.transcript))
    } finally {
      await closeSome()
    }
  }

  function newTranscript(key: SessionKey): OpenTranscript {
    return { transcript: new Transcript({ sessions, key: { ...key }, fold }), queue: createQueue() }
  }

  /** Closes the transcripts that were not used for longest until the others fit. */
  async function closeSome(): Promise<void> {
    let bytes = 0
    for (const { transcript } of open.values()) bytes += transcript.bytes
    for (const [name, { transcript, queue }] of open) {
      if (!queue.idle || (bytes <= maxOpenBytes && transcript.bytes > 0)) continue
      bytes -= transcript.bytes
      open.delete(name)
      await transcript.close()
    }
  }

  /** The transcripts of a project or, with `idPrefix`, of one session. */
  async function* rows(idPrefix: string, metadata: Partial<SessionKey>): AsyncGenerator<SessionInfo> {
    let cursor: string | undefined
    do {
      const page = await sessions.list({
        kind: KIND,
        idPrefix,
        metadata,
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      })
      yield* page.sessions
      cursor = page.next
    } while (cursor !== undefined)
  }

  async function mainRows(projectKey: string): Promise<MainRow[]> {
    checkKey({ projectKey, sessionId: "" })
    const found: SessionInfo[] = []
    for await (const row of rows(await projectPrefixOf(projectKey), { projectKey }))
      if (typeof row.metadata["sessionId"] === "string" && row.metadata["subpath"] === undefined) found.push(row)
    // The last part has the newest time and summary. A part without its first one is left of a transcript that was deleted.
    const last = new Map<unknown, SessionInfo>()
    for (const row of found.sort((a, b) => Number(partOf(a.metadata)) - Number(partOf(b.metadata)))) {
      const { sessionId } = row.metadata
      const before = last.get(sessionId)
      const follows = before !== undefined && transcriptOf(before.metadata) === transcriptOf(row.metadata)
      if (partOf(row.metadata) === 1 || follows) last.set(sessionId, row)
    }
    return [...last].map(([sessionId, { metadata, updatedAt }]) => ({
      sessionId: sessionId as string,
      mtime: Date.parse(updatedAt),
      summary: metadata[SUMMARY],
    }))
  }

  async function subpaths(main: SessionKey): Promise<string[]> {
    checkKey(main)
    const { projectKey, sessionId } = main
    const key = { projectKey, sessionId }
    const found: string[] = []
    for await (const { metadata } of rows(`${await sessionIdOf(key)}.`, key)) {
      const { subpath } = metadata
      if (typeof subpath === "string" && isKeyOf(metadata, { ...key, subpath })) found.push(subpath)
    }
    return found.sort()
  }

  async function remove(key: SessionKey): Promise<void> {
    await use(key, async (transcript) => {
      await transcript.close()
      const id = await transcript.id()
      // The last part first, so that a repeated call finds what a crash has left.
      await removeParts(id, key)
      await purge(id)
      // Another process may have gone on meanwhile.
      await removeParts(id, key)
    })
  }

  async function removeParts(id: string, { projectKey, sessionId }: SessionKey): Promise<void> {
    const parts: SessionInfo[] = []
    for await (const row of rows(`${id}${PART_SUFFIX}`, { projectKey, sessionId })) parts.push(row)
    parts.sort((a, b) => Number(partOf(b.metadata)) - Number(partOf(a.metadata)))
    for (const part of parts) await purge(part.id)
  }

  async function purge(id: string): Promise<void> {
    try {
      const { purged } = await sessions.delete(id)
      if (!purged) throw notPurgedError(id)
    } catch (error) {
      if (!hasCode(error, "not_found")) throw error
    }
  }

  const store: ClaudeStore = {
    append: (key, entries) =>
      call(async () => {
        checkLines(entries)
        // The caller may change its array afterwards.
        const lines: SessionStoreEntry[] = [...entries]
        await use(key, (transcript) => transcript.append(lines))
      }),
    load: (key) =>
      call(async () => {
        const lines = await use(key, (transcript) => transcript.load())
        return lines === undefined || lines.length === 0 ? null : lines
      }),
    listSessions: (projectKey) =>
      call(async () => (await mainRows(projectKey)).map(({ sessionId, mtime }) => ({ sessionId, mtime }))),
    delete: (key) =>
      call(async () => {
        checkKey(key)
        if (key.subpath === undefined) for (const subpath of await subpaths(key)) await remove({ ...key, subpath })
        await remove(key)
      }),
    listSubkeys: (key) => call(() => subpaths(key)),
    async close() {
      isClosed = true
      await Promise.all(running)
      for (const { transcript } of open.values()) await transcript.close()
      open.clear()
    },
    [Symbol.asyncDispose]: () => store.close(),
  }
  if (fold !== undefined)
    store.listSessionSummaries = (projectKey) => call(async () => (await mainRows(projectKey)).flatMap(toSummary))
  return store
}

interface OpenTranscript {
  readonly transcript: Transcript
  readonly queue: Queue
}

interface MainRow {
  readonly sessionId: string
  readonly mtime: number
  readonly summary: unknown
}

/** None for a session without a summary: the SDK loads it then. */
function toSummary({ sessionId, mtime, summary }: MainRow): SessionSummaryEntry[] {
  if (typeof summary !== "object" || summary === null) return []
  return [{ sessionId, mtime, data: summary as Record<string, unknown> }]
}

/** A line that is no object, or none as JSON, could not be told from the text of a long one when it is read. */
function checkLines(entries: readonly unknown[]): void {
  // Without the prototype, which differs for an object of another realm. `Array.from`: also the holes.
  const isLine = (line: unknown): boolean =>
    Object.prototype.toString.call(line) === "[object Object]" &&
    typeof (line as { readonly toJSON?: unknown }).toJSON !== "function"
  if (Array.isArray(entries) && Array.from(entries).every(isLine)) return
  throw new SessionError("invalid", "append takes an array of lines, each an object. Nothing was written.")
}

function ignore(): void {}

function notPurgedError(id: string): StorageError {
  return new StorageError(
    "unavailable",
    `Bytes of the deleted session ${id} are left in the storage; delete it again.`,
    { session: id },
  )
}
