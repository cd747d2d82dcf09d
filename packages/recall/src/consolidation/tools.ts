/** The tools of the agent. Every write is compare-and-set on what the agent has read, and checks the lock first. */
import type { Sessions } from "@sessions/core"
import { type CallOptions, checkSignal, createQueue, StorageError } from "@sessions/core/storage"
import { checkMemoryName, checkMemoryText } from "../files/names.ts"
import type { MemoryFiles } from "../files/types.ts"
import { belongs, type ReviewOptions, sessionText } from "./reviewed.ts"
import type { ConsolidationLock, ConsolidationOptions, ConsolidationTools, SessionRow } from "./types.ts"

export interface ToolDeps {
  readonly files: MemoryFiles
  readonly sessions: Sessions
  readonly lock: ConsolidationLock
  readonly rows: readonly SessionRow[]
  readonly review: Omit<ReviewOptions, "signal"> & { readonly toolResults: boolean }
  readonly search: ConsolidationOptions["search"]
}

/** Files that an agent has read and changed in all phases. */
export class MemoryEdits {
  /** The version of each file as the agent knows it. */
  readonly versions: Map<string, string> = new Map()
  /** The text of each file as the agent has read it; undefined: there was none. */
  readonly texts: Map<string, string | undefined> = new Map()
  /** The text of each changed file before its first change, or before the first one behind another writer's. */
  readonly before: Map<string, string | undefined> = new Map()
  readonly written: Set<string> = new Set()
  readonly deleted: Set<string> = new Set()
  readonly #queue = createQueue()

  /** Reads and changes run one after another: a read takes no change that is under way for another writer's, and what puts the files back knows of each. */
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(work)
  }

  settled(): Promise<void> {
    return this.inOrder(async () => undefined)
  }
}

/**
 * Puts the changed files back as they were before the agent changed them. Returns the names of those that stay as they are: changed by
 * another writer since, or the lock is lost. The caller's signal may have fired already, so it does not count.
 */
export async function restoreFiles(
  files: MemoryFiles,
  lock: ConsolidationLock,
  edits: MemoryEdits,
): Promise<readonly string[]> {
  await edits.settled()
  const { before, versions } = edits
  const kept: string[] = []
  for (const [name, text] of before) {
    const expect = versions.get(name) ?? null
    try {
      await lock.check()
      if (text !== undefined) await files.write(name, text, { expect })
      else if (expect !== null) await files.delete(name, { expect })
    } catch {
      // The error that ended the consolidation says more.
      kept.push(name)
    }
  }
  return kept
}

/** The tools of one phase; they reject once the signal has fired. */
export function createTools(deps: ToolDeps, edits: MemoryEdits, signal: AbortSignal): ConsolidationTools {
  const { files, sessions, lock, rows, review, search } = deps
  const o: CallOptions = { signal }

  /**
   * Neither a lock that is lost nor an agent that goes on after its phase may write. A change that has begun takes no signal: an aborted
   * one may still happen, and would not be put back.
   */
  const change = (work: () => Promise<void>): Promise<void> =>
    edits.inOrder(async () => {
      await lock.check()
      checkSignal(signal)
      await work()
    })

  const tools: ConsolidationTools = {
    async listMemory() {
      return files.list(o)
    },
    async readMemory(name) {
      checkMemoryName(name)
      return edits.inOrder(async () => {
        const file = await files.read(name, o)
        if (file?.version === edits.versions.get(name)) return file?.text
        // Another writer has changed the file, whose change stays.
        edits.before.delete(name)
        edits.texts.set(name, file?.text)
        if (file === undefined) edits.versions.delete(name)
        else edits.versions.set(name, file.version)
        return file?.text
      })
    },
    async writeMemory(name, text) {
      checkMemoryName(name)
      checkMemoryText(name, text)
      await change(async () => {
        const version = await files.write(name, text, { expect: edits.versions.get(name) ?? null })
        edits.versions.set(name, version)
        if (!edits.before.has(name)) edits.before.set(name, edits.texts.get(name))
        edits.written.add(name)
        edits.deleted.delete(name)
      })
    },
    async deleteMemory(name) {
      checkMemoryName(name)
      await change(async () => {
        const version = edits.versions.get(name)
        if (version === undefined) {
          throw new StorageError("conflict", `${name} was not read, or does not exist: read it before you delete it.`)
        }
        await files.delete(name, { expect: version })
        edits.versions.delete(name)
        if (!edits.before.has(name)) edits.before.set(name, edits.texts.get(name))
        edits.deleted.add(name)
        edits.written.delete(name)
      })
    },
    async listSessions() {
      checkSignal(signal)
      return rows
    },
    async readSession(id, page = {}) {
      return sessionText(sessions, id, page, { ...review, signal })
    },
  }
  if (search === undefined) return tools
  return {
    ...tools,
    async searchSessions(words) {
      const results = await search(words, o)
      const known = new Map<string, boolean>()
      for (const { session } of results) {
        if (!known.has(session)) known.set(session, await belongs(sessions, session, review.filter, o))
      }
      return results.filter(({ session }) => known.get(session))
    },
  }
}
