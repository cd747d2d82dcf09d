/** How much of a request a message takes, beside its tokens: bytes and images. */
import { utf8Length } from "../storage/utf8.ts"
import { withoutMedia } from "./media.ts"
import type { Message } from "./message.ts"

export interface MessageSize {
  /** Bytes as they are sent: texts as JSON in UTF-8, images and files in base64. The names of an API's own fields are not counted. */
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
