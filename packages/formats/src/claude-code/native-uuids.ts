/** The `uuid` by which a line of Claude Code refers to an entry: that of the entry's last line. Import and export follow the same rule. */
import { stringOf } from "../base/values.ts"

export class NativeUuids {
  /** By entry id; only those that differ from the id. Null: the entry has no line with a `uuid`, nor has any before it on its path. */
  readonly #uuids = new Map<string, string | null>()

  of(entryId: string | null): string | null {
    if (entryId === null) return null
    const found = this.#uuids.get(entryId)
    return found === undefined ? entryId : found
  }

  /** `uuid` of the entry's last line; anything but a text: lines continue the one before the entry. */
  set({ id, parentId }: { readonly id: string; readonly parentId: string | null }, uuid: unknown): void {
    const native = stringOf(uuid) ?? this.of(parentId)
    if (native !== id) this.#uuids.set(id, native)
  }

  /** Lines that continue the entry continue nothing. */
  cut(id: string): void {
    this.#uuids.set(id, null)
  }
}
