/** Memory files over others that are only read, for a dry run: what is written stays in this object. */
import { StorageError } from "@sessions/core/storage"
import type { MemoryFile, MemoryFiles, MemoryStore } from "@sessions/recall"

export interface Overlay extends MemoryStore {
  /** The memory files as they would be: null for a deleted one. */
  readonly changes: ReadonlyMap<string, string | null>
}

/** Of one scope. */
export function createOverlay(store: MemoryStore): Overlay {
  const changed = new Map<string, MemoryFile | null>()
  const changes = new Map<string, string | null>()
  let versions = 0
  const filesOf = (below: MemoryFiles): MemoryFiles => {
    const read: MemoryFiles["read"] = async (name, o) => {
      const file = changed.get(name)
      return file === undefined ? below.read(name, o) : (file ?? undefined)
    }
    const set = async (name: string, text: string | null, expect: string | null): Promise<string> => {
      if (((await read(name))?.version ?? null) !== expect) {
        throw new StorageError("conflict", `${name} has another version, or does not exist. Read it again.`)
      }
      const version = `dry-run ${++versions}`
      changed.set(name, text === null ? null : { text, version })
      if (name.endsWith(".md")) changes.set(name, text)
      return version
    }
    return {
      async list(o) {
        const names = new Set(await below.list(o))
        for (const [name, text] of changes) {
          if (text === null) names.delete(name)
          else names.add(name)
        }
        return [...names].sort()
      },
      read,
      write: (name, text, { expect }) => set(name, text, expect),
      async delete(name, { expect }) {
        await set(name, null, expect)
      },
    }
  }
  return { changes, of: (scope) => filesOf(store.of(scope)) }
}
