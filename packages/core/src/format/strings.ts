/** The strings of an entry and where they stand. */
import { pointerOf } from "./pointer.ts"
import { isObject } from "./shape.ts"

export interface Place {
  readonly pointer: string
  readonly text: string
  /** The `data` of an object whose type is `image`. */
  readonly image: boolean
}

export interface StringFilter {
  /** Whether this string is looked for. */
  readonly wanted: (text: string, image: boolean) => boolean
  /** Whether to look into this object or array. Default: into all. */
  readonly enter?: (holder: object) => boolean
}

/** The strings that are wanted, in order. The fields that every entry has, which hold the log together, are left out. */
export function findStrings(entry: object, filter: StringFilter): readonly Place[] {
  const found: Place[] = []
  // A stack of its own: what was parsed may be nested deeper than calls can be.
  const open: Frame[] = [{ holder: entry, keys: Object.keys(entry), next: 0 }]
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    const key = frame.keys[frame.next++]
    if (key === undefined) {
      open.pop()
      continue
    }
    if (open.length === 1 && BASE_FIELDS.has(key)) continue
    const value = (frame.holder as Readonly<Record<string, unknown>>)[key]
    if (typeof value === "string") {
      const image = key === "data" && (frame.holder as { type?: unknown }).type === "image"
      if (!filter.wanted(value, image)) continue
      found.push({ pointer: pointerOf(open.map(({ keys, next }) => keys[next - 1] ?? "")), text: value, image })
    } else if (typeof value === "object" && value !== null && filter.enter?.(value) !== false) {
      open.push({ holder: value, keys: Object.keys(value), next: 0 })
    }
  }
  return found
}

/** The data of the image blocks among an entry's content. */
export function contentImages(entry: object): readonly Place[] {
  const { message, replacement } = entry as { message?: unknown; replacement?: unknown }
  const found: Place[] = []
  findImages(entry, "", found)
  findImages(message, "/message", found)
  findImages(replacement, "/replacement", found)
  return found
}

function findImages(holder: unknown, path: string, found: Place[]): void {
  const content = isObject(holder) ? holder["content"] : undefined
  if (!Array.isArray(content)) return
  for (let index = 0; index < content.length; index++) {
    const block: unknown = content[index]
    if (!isObject(block) || block["type"] !== "image" || typeof block["data"] !== "string") continue
    found.push({ pointer: `${path}/content/${index}/data`, text: block["data"], image: true })
  }
}

/** What holds the log together: it never leaves its line. */
export const BASE_FIELDS: ReadonlySet<string> = new Set(["type", "id", "parentId", "seq", "timestamp", "blobs"])

/** An object or array that is being walked. */
interface Frame {
  readonly holder: object
  readonly keys: readonly string[]
  next: number
}
