/**
 * A state is folded from entries as they stand in the log, so what is too large for a line stands in it as a reference. Here is
 * where in the state: the pointers of the entries that its parts came from, moved to the places of the parts.
 */
import type { Entry } from "../format/records.ts"
import { isObject } from "../format/shape.ts"

export type BlobPointers = NonNullable<Entry["blobs"]>

/** Of the state that a path folds to, from a state on that has references itself. Pointers into the state. */
export function stateBlobs(path: readonly Entry[], start: BlobPointers | undefined): BlobPointers | undefined {
  const mode = path.findLast((entry) => entry.type === "mode_change" && typeof entry["mode"] === "string")
  const kept = Object.entries(start ?? {})
  const own = mode === undefined ? [] : moved(mode, "/data", "/modeData")
  const all = [...kept.filter(([pointer]) => mode === undefined || !isAt(pointer, "/modeData")), ...own]
  return all.length === 0 ? undefined : Object.fromEntries(all)
}

/** The references in the state that an entry stores, as pointers into the state. */
export function storedStateBlobs(entry: Entry): BlobPointers {
  return Object.fromEntries(moved(entry, "/state", ""))
}

/** The same pointers into an entry that carries the state as its `state`. */
export function inState(blobs: BlobPointers): BlobPointers {
  return Object.fromEntries(Object.entries(blobs).map(([pointer, encoding]) => [`/state${pointer}`, encoding]))
}

function moved(entry: Entry, from: string, to: string): [pointer: string, encoding: "utf8" | "base64"][] {
  if (!isObject(entry.blobs)) return []
  return Object.entries(entry.blobs).flatMap(([pointer, encoding]) =>
    isAt(pointer, from) ? [[to + pointer.slice(from.length), encoding]] : [],
  )
}

function isAt(pointer: string, place: string): boolean {
  return pointer === place || pointer.startsWith(`${place}/`)
}
