/** Images as a receiver takes them: named by their media types, and no larger than it allows. */
import type { ContentBlock, ImageBlock } from "@sessions/core"
import { checkArgument, isBlocks } from "./check.ts"
import { sidesOf, typeOf } from "./image-header.ts"
import type { Images, Rules } from "./rules.ts"

/** An image as it is sent. */
export interface FittedImage {
  readonly block: ContentBlock
  /** Why the image is a text now: the receiver's rule. */
  readonly refused?: string
}

/** The images of a request, in their order. */
export function fittedImages(given: readonly ImageBlock[], { images, receiver }: Rules): readonly FittedImage[] {
  checkArgument("fittedImages", isBlocks(given), "a list of image blocks", given)
  const readables = given.map(readable)
  const refusals = readables.map((image) => refusalOf(image, images, given.length))
  leaveOutOldest(readables, refusals, images)
  return readables.map((block, i) => {
    const refused = refusals[i]
    if (refused === undefined) return { block }
    const text = `[An image of the type ${block.mimeType} that cannot be shown here.]`
    return { block: { type: "text", text }, refused: `${receiver} takes ${refused}` }
  })
}

/** In steps down to the half, so that requests go on to begin as the ones before them until the next step. */
function leaveOutOldest(
  images: readonly ImageBlock[],
  refusals: (string | undefined)[],
  { maxTotal = Number.POSITIVE_INFINITY, maxCount = Number.POSITIVE_INFINITY }: Images,
): void {
  let [total, count, oldest] = [0, 0, 0]
  for (const [i, { data }] of images.entries()) {
    if (refusals[i] !== undefined) continue
    total += data.length
    count++
    const most = total > maxTotal ? maxTotal / 2 : maxTotal
    const mostImages = count > maxCount ? maxCount / 2 : maxCount
    for (; (total > most || count > mostImages) && oldest < i; oldest++) {
      if (refusals[oldest] !== undefined) continue
      const limit =
        total > most ? `${maxTotal} characters of base64 at most in all images` : `${maxCount} images at most`
      refusals[oldest] = `${limit} of a request; newer ones are sent`
      total -= images[oldest]?.data.length ?? 0
      count--
    }
  }
}

function refusalOf({ mimeType, data }: ImageBlock, images: Images, count: number): string | undefined {
  const { types, maxTotal, maxLength = maxTotal, maxSide, many } = images
  if (types.length === 0) return "no images"
  if (!types.includes(mimeType)) return `${types.join(", ")} only`
  if (!BASE64.test(data) || data.length % 4 === 1) return "base64 only"
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
  // Lines, base64 for URLs, and a missing end.
  if (!BASE64.test(data)) data = data.replaceAll(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/")
  if (data.length % 4 > 1) data = data.padEnd(Math.ceil(data.length / 4) * 4, "=")
  const named = mimeType.toLowerCase().split(";")[0]?.trim() ?? ""
  mimeType = typeOf(data) ?? ALIASES[named] ?? named
  return data === image.data && mimeType === image.mimeType ? image : { ...image, data, mimeType }
}

/** 3 ms for an image of 5 MB. */
const BASE64 = /^[a-zA-Z0-9+/]*={0,2}$/

/** Names that programs write and that no registry has. */
const ALIASES: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
}
