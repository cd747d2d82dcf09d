/** How much of a request a message takes, beside its tokens: bytes and images. */
import { utf8Length } from "../storage/utf8.ts"
import type { Message } from "./message.ts"
import { isObject } from "./shape.ts"

export interface MessageSize {
  /** As it is sent: texts as JSON in UTF-8, images and files in base64. The names of an API's own fields are not counted. */
  readonly bytes: number
  readonly images: number
}

/** Sizes of messages are added up. A `file` block has the size of its path, which is what is sent of it. */
export function sizeOf(message: Message): MessageSize {
  // `toModelMessages` makes the text of executions and summaries from the last four.
  const { role, content, toolCallId, command, code, output, summaryText } = message as Readonly<Record<string, unknown>>
  let bytes = 0
  let images = 0
  const text = withoutMedia([role, content, toolCallId, command, code, output, summaryText], ({ mimeType, units }) => {
    bytes += units
    if (mimeType.startsWith("image/")) images++
  })
  return { bytes: bytes + utf8Length(text), images }
}

/** The data of an image or a file. */
export interface Media {
  readonly mimeType: string
  /** Characters of base64. */
  readonly units: number
}

/** A value as JSON, without the images and files in it, each of which is passed to `found`. */
export function withoutMedia(value: unknown, found: (media: Media) => void): string {
  const leaveOut = (_: string, inner: unknown): unknown => {
    const media = mediaOf(inner)
    if (media === undefined) return inner
    found(media)
    return undefined
  }
  try {
    return JSON.stringify(value, leaveOut) ?? ""
  } catch {
    // Nested too deeply: it cannot be sent either.
    return ""
  }
}

/** An object with base64 and its media type, as blocks and the parts of providers have them, or a `data:` URL. */
function mediaOf(value: unknown): Media | undefined {
  if (typeof value === "string") {
    const url = value.startsWith("data:") ? /^data:([^;,]{0,99})[^,]{0,99};base64,/.exec(value) : null
    return url === null ? undefined : { mimeType: url[1] as string, units: value.length }
  }
  if (!isObject(value)) return undefined
  const { data, mimeType = value["media_type"] } = value
  return typeof data === "string" && typeof mimeType === "string" ? { mimeType, units: data.length } : undefined
}
