/** The tools of the agent. Every write is compare-and-set on what the agent has read, and checks the lock first. */
import type { Sessions } from "@sessions/core"
import { type CallOptions, checkSignal, StorageError } from "@sessions/core/storage"
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

/** What an agent has read and changed in all phases. */
export class MemoryEdits {
  /** The version of each file as the agent knows it. */
  readonly versions: Map<string, string> = new Map()
  readonly written: Set<string> = new Set()
  readonly deleted: Set<string> = new Set()
}

/** The tools of one phase; they reject once the signal has fired. */
export function createTools(deps: ToolDeps, edits: MemoryEdits, signal: AbortSignal): ConsolidationTools {
  const { files, sessions, lock, rows, review, search } = deps
  const o: CallOptions = { signal }

  /** Neither a lock that is lost nor an agent that goes on after its phase may write. */
  const checkWrite = async (): Promise<void> => {
    await lock.check()
    checkSignal(signal)
  }

  const tools: ConsolidationTools = {
    async listMemory() {
      return files.list(o)
    },
    async readMemory(name) {
      checkMemoryName(name)
      const file = await files.read(name, o)
      if (file === undefined) edits.versions.delete(name)
      else edits.versions.set(name, file.version)
      return file?.text
    },
    async writeMemory(name, text) {
      checkMemoryName(name)
      checkMemoryText(name, text)
      await checkWrite()
      const version = await files.write(name, text, { ...o, expect: edits.versions.get(name) ?? null })
      edits.versions.set(name, version)
      edits.written.add(name)
      edits.deleted.delete(name)
    },
    async deleteMemory(name) {
      checkMemoryName(name)
      await checkWrite()
      const version = edits.versions.get(name)
      if (version === undefined) {
        throw new StorageError("conflict", `${name} was not read, or does not exist: read it before you delete it.`)
      }
      await files.delete(name, { ...o, expect: version })
      edits.versions.delete(name)
      edits.deleted.add(name)
      edits.written.delete(name)
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
