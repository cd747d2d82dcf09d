/** Finds the entries of a log by the `uuid` of the lines that they were made of. Keeps ids only, and those of most lines once. */
import type { Entry } from "@sessions/core"
import type { LogBuilder } from "../base/log-builder.ts"

/** What is kept of an entry. */
export interface Kept {
  /** The id of the entry is the `uuid` of its first line. */
  readonly isLine: boolean
  /** The `uuid` by which lines refer to the entry; undefined if it is the id. See `native-uuids.ts`. */
  readonly native: string | null | undefined
  /** The entry that the children of the entry's lines continue; undefined if it is the entry itself. */
  readonly tail: string | undefined
}

/** Of most entries. */
const OWN_LINE: Kept = { isLine: true, native: undefined, tail: undefined }
const NO_LINE: Kept = { isLine: false, native: undefined, tail: undefined }

export class LineIndex {
  readonly #log: LogBuilder<Kept>
  /** The entry that a line is in, if the line's `uuid` is not the id of the entry. */
  readonly #homes = new Map<string, string>()

  constructor(log: LogBuilder<Kept>) {
    this.#log = log
  }

  /** Whether a line that is in an entry has this `uuid`. */
  has(uuid: string): boolean {
    return this.#log.node(uuid)?.kept?.isLine === true || this.#homes.has(uuid)
  }

  /** The id of the entry that a line is in. */
  entryOf(uuid: string): string {
    return this.#homes.get(uuid) ?? uuid
  }

  /** The id of the entry that continues a line. */
  entryAfter(uuid: string): string {
    let id = this.#log.node(uuid)?.kept?.isLine === true ? uuid : this.entryOf(uuid)
    for (let tail = this.#tailOf(id); tail !== undefined; tail = this.#tailOf(id)) id = tail
    return id
  }

  /** Another entry, which is behind this one in the log. */
  #tailOf(entryId: string): string | undefined {
    const tail = this.#log.node(entryId)?.kept?.tail
    return tail === entryId ? undefined : tail
  }

  /** The `uuid` by which lines refer to an entry; null if no line with a `uuid` is in it or before it on its path. */
  nativeOf(entryId: string | null): string | null {
    if (entryId === null) return null
    const native = this.#log.node(entryId)?.kept?.native
    return native === undefined ? entryId : native
  }

  /** A new entry. `uuid`: that of its first line, if it is the first entry of that line; `native`: that of its last line. */
  add({ id, parentId }: Pick<Entry, "id" | "parentId">, uuid: string | undefined, native: string | undefined): void {
    const isLine = uuid === id
    if (uuid !== undefined && !isLine) this.#homes.set(uuid, id)
    const by = native ?? this.nativeOf(parentId)
    this.#keep(id, by === id ? (isLine ? OWN_LINE : NO_LINE) : { isLine, native: by, tail: undefined })
  }

  /** A further line of an entry. */
  addLine(uuid: string | undefined, entryId: string): void {
    if (uuid !== undefined && uuid !== entryId) this.#homes.set(uuid, entryId)
  }

  setTail(entryId: string, tail: string): void {
    const kept = this.#log.node(entryId)?.kept ?? NO_LINE
    if (tail !== (kept.tail ?? entryId)) this.#keep(entryId, { ...kept, tail })
  }

  #keep(entryId: string, kept: Kept): void {
    const node = this.#log.node(entryId)
    if (node !== undefined) node.kept = kept
  }
}
