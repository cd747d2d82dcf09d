/** Images as a receiver takes them: named by their media types, and no larger than it allows. */
import type { ContentBlock, ImageBlock } from "@sessions/core"
import { sidesOf, typeOf } from "./image-header.ts"
import type { Images, Rules } from "./rules.ts"

export interface FittedImage {
  readonly block: ContentBlock
  /** Why the image is a text now: the receiver's rule. */
  readonly refused?: string
}

/** `count`: of the images in the request. */
export function fittedImage(image: ImageBlock, { images, receiver }: Rules, count: number): FittedImage {
  const block = readable(image)
  const refused = refusalOf(block, images, count)
  if (refused === undefined) return { block }
  const text = `[An image of the type ${block.mimeType} that cannot be shown here.]`
  return { block: { type: "text", text }, refused: `${receiver} takes ${refused}` }
}

function refusalOf({ mimeType, data }: ImageBlock, images: Images, count: number): string | undefined {
  const { types, maxLength, maxSide, many } = images
  if (types.length === 0) return "no images"
  if (!types.includes(mimeType)) return `${types.join(", ")} only`
  if (maxLength !== undefined && data.length > maxLength) return `${maxLength} characters of base64 at most`
  const isMany = many !== undefined && count > many.count
  const most = isMany ? many.maxSide : maxSide
  if (most === undefined) return undefined
  const sides = sidesOf(data)
  if (sides === undefined || sides.every((side) => side <= most)) return undefined
  return `${most} pixels a side at most${isMany ? ` in a request of more than ${many.count} images` : ""}`
}

/** The type that the data has, or in the words of the registry; data without the beginning of a `data:` URL and line breaks. */
function readable(image: ImageBlock): ImageBlock {
  let { data, mimeType } = image
  const url = /^data:([^;,]*)[^,]*;base64,/i.exec(data.slice(0, 200))
  if (url !== null) {
    data = data.slice(url[0].length)
    mimeType = url[1] || mimeType
  }
  // Whoever breaks lines, or writes base64 for URLs, does it from the beginning.
  if (/[^a-zA-Z0-9+/=]/.test(data.slice(0, 4096)))
    data = data.replaceAll(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/")
  const named = mimeType.toLowerCase().split(";")[0]?.trim() ?? ""
  mimeType = typeOf(data) ?? ALIASES[named] ?? named
  return data === image.data && mimeType === image.mimeType ? image : { ...image, data, mimeType }
}

/** Names that programs write and that no registry has. */
const ALIASES: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
}
