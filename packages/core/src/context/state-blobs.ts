/**
 * The blob references of a state. A state is folded from stored entries, so its large values are references. Their JSON pointers are
 * those of the entries the values came from, moved to the values' position in the state.
 */
import type { Entry } from "../format/entry.ts"
import { isObject } from "../format/shape.ts"

export type BlobPointers = NonNullable<Entry["blobs"]>

/**
 * The references in the state that a path folds to, as pointers into an entry that carries it as its `state`. `stored` are those of the state that the fold
 * begins with.
 */
export function stateBlobs(path: readonly Entry[], stored: BlobPointers = {}): BlobPointers | undefined {
  const mode = path.findLast((entry) => entry.type === "mode_change" && typeof entry["mode"] === "string")
  const all =
    mode === undefined
      ? Object.entries(stored)
      : [
          ...Object.entries(stored).filter(([pointer]) => !isAt(pointer, "/state/modeData")),
          ...movedPointers(mode, "/data", "/state/modeData"),
        ]
  return all.length === 0 ? undefined : Object.fromEntries(all)
}

/** The references in the state that an entry carries. */
export function storedStateBlobs(entry: Entry): BlobPointers {
  return Object.fromEntries(movedPointers(entry, "/state", "/state"))
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
