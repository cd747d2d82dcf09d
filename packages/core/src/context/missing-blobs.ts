/**
 * Replaces the references of missing blobs by a sentence, since a reference must not reach a model as text. In a text or an argument
 * of a call the sentence replaces the string; anywhere else in a block a text block replaces the block.
 */
import { type BlobRef, blobRefs } from "../format/blobs.ts"
import { getAt, pathOf, pointerOf, setAt } from "../format/pointer.ts"
import type { Entry } from "../format/entry.ts"
import { isObject } from "../format/shape.ts"

export const MISSING_CONTENT_TEXT = "[This content is missing: it is not in the blob store any more.]"

/** The entry with its remaining references replaced, also references to images of other formats; the same object if it has none. */
export function withoutReferences(entry: Entry): Entry {
  const refs = blobRefs(entry, { foreign: true })
  if (refs.length === 0) return entry
  const { blobs: _, ...rest } = setAt(entry, new Map(refs.map((ref) => substitute(entry, ref))))
  return rest
}

/** The pointer to replace for a reference, and the text or block for it. */
export function substitute(entry: object, { pointer }: BlobRef): readonly [pointer: string, value: unknown] {
  const path = pathOf(pointer) ?? []
  const content = path.indexOf("content")
  const inBlock = path.slice(content + 2)
  if (content < 0 || content > 1 || inBlock.length === 0) return [pointer, MISSING_CONTENT_TEXT]
  const blockPointer = pointerOf(path.slice(0, content + 2))
  const block = getAt(entry, blockPointer)
  const type = isObject(block) ? block["type"] : undefined
  const ownText = (type === "text" && inBlock[0] === "text") || (type === "toolCall" && inBlock[0] === "arguments")
  return ownText ? [pointer, MISSING_CONTENT_TEXT] : [blockPointer, { type: "text", text: MISSING_CONTENT_TEXT }]
}
