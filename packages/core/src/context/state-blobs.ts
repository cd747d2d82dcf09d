/**
 * The blob references of a state. A state is folded from stored entries, so its large values are references. Their JSON pointers are
 * those of the entries the values came from, moved to the values' position in the state.
 */
import type { Entry } from "../format/entry.ts"
import { isObject } from "../format/shape.ts"

export type BlobPointers = NonNullable<Entry["blobs"]>

/** Of the state that a path folds to, from a state on that has references itself. Pointers into the state. */
export function stateBlobs(path: readonly Entry[], start: BlobPointers | undefined): BlobPointers | undefined {
  const mode = path.findLast((entry) => entry.type === "mode_change" && typeof entry["mode"] === "string")
  const kept = Object.entries(start ?? {})
  const own = mode === undefined ? [] : movedPointers(mode, "/data", "/modeData")
  const all = [...kept.filter(([pointer]) => mode === undefined || !isAt(pointer, "/modeData")), ...own]
  return all.length === 0 ? undefined : Object.fromEntries(all)
}

/** The references in the state that an entry stores, as pointers into the state. */
export function storedStateBlobs(entry: Entry): BlobPointers {
  return Object.fromEntries(movedPointers(entry, "/state", ""))
}

/** The same pointers into an entry that carries the state as its `state`. */
export function inState(blobs: BlobPointers): BlobPointers {
  return Object.fromEntries(Object.entries(blobs).map(([pointer, encoding]) => [`/state${pointer}`, encoding]))
}

/** The references of an entry below one pointer, moved to another. */
export function movedPointers(
  entry: Entry,
  from: string,
  to: string,
): [pointer: string, encoding: "utf8" | "base64"][] {
  if (!isObject(entry.blobs)) return []
  return Object.entries(entry.blobs).flatMap(([pointer, encoding]) =>
    isAt(pointer, from) ? [[to + pointer.slice(from.length), encoding]] : [],
  )
}

function isAt(pointer: string, parent: string): boolean {
  return pointer === parent || pointer.startsWith(`${parent}/`)
}
