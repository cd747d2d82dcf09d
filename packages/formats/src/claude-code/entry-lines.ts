/** The uuids of the lines of each written entry, by which a compaction names the entries that it keeps. */
import type { Entry } from "@sessions/core"
import type { LogIndex } from "../base/written-path.ts"

interface Lines {
  readonly parentId: string | null
  readonly seq: number
  readonly uuids: readonly string[]
}

export class EntryLines {
  readonly #index: LogIndex
  readonly #lines = new Map<string, Lines>()

  constructor(index: LogIndex) {
    this.#index = index
  }

  /** Only lines of messages are kept. An entry without lines is passed over. */
  add({ id, parentId, seq, type }: Entry, uuids: readonly string[]): void {
    const isShown = type === "message" || type === "custom_message" || type === "branch_summary"
    this.#lines.set(id, { parentId, seq, uuids: isShown ? uuids : [] })
  }

  /** An entry that is in the same lines as another one. */
  copy({ id, parentId, seq }: Entry, other: Entry): void {
    this.#lines.set(id, { parentId, seq, uuids: this.#lines.get(other.id)?.uuids ?? [] })
  }

  /** The uuids of the lines that a compaction keeps, in the order of the path. None if the first kept entry is not on it, as in core. */
  keptBy(entry: Entry & { readonly type: "compaction" }): readonly string[] {
    const first = this.#index.find(entry.firstKeptEntryId, entry.seq)
    const kept: string[] = []
    for (let id = entry.parentId; id !== null && first !== undefined; ) {
      const found = this.#lines.get(id)
      if (found === undefined || found.seq < first) return []
      const edit = this.#index.editOf(found.seq)
      // What the user left out has no lines, except beside other entries of its line.
      if (edit?.content !== null || !edit.isImported) {
        // Entries of one line have the same.
        kept.unshift(...found.uuids.filter((uuid) => uuid !== kept[0]))
      }
      if (found.seq === first) return kept
      id = found.parentId
    }
    return []
  }
}
