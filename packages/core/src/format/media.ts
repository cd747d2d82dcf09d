/** Images and files within messages. Estimates of tokens need it with every message, the sizes in bytes beside it only compaction. */
import { isObject } from "./shape.ts"

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
