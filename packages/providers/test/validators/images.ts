/** Addresses of images, as `image_url` parts have them. */
import type { Check } from "./shapes.ts"

const DATA = /^data:([^;,]*);base64,([A-Za-z0-9+/]*={0,2})$/

/** `https` addresses, and base64 of one of the types. Rule: `image_format PATH` or `image_url PATH`. */
export function imageUrl(
  types: readonly string[],
  sentences: { readonly format: string; readonly url: (path: string) => string },
  o: { readonly schemes?: readonly string[] } = {},
): Check {
  return (value, path, report) => {
    const place = path.replaceAll(/\[\d+\]/g, "[]")
    const scheme = typeof value === "string" ? value.slice(0, value.indexOf(":")) : ""
    if (typeof value === "string" && (o.schemes ?? ["http", "https"]).includes(scheme)) return
    const [, type, data] = typeof value === "string" ? (DATA.exec(value) ?? []) : []
    if (type === undefined || data === undefined || data === "" || data.length % 4 !== 0)
      return report.refuse(`image_url ${place}`, sentences.url(path))
    if (!types.includes(type)) report.refuse(`image_format ${place}`, `${sentences.format} (${type})`)
  }
}
