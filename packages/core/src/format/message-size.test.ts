import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import { sizeOf } from "./message-size.ts"
import type { Message } from "./message.ts"

const message = (...content: readonly object[]): Message => ({ role: "user", content }) as unknown as Message

test("a text has its bytes as JSON in UTF-8", () => {
  const empty = sizeOf(message({ type: "text", text: "" })).bytes
  for (const [text, bytes] of [
    ["abc", 3],
    ["字", 3],
    ["a\n", 3],
    ["\u0000", 6],
    ["😀", 4],
  ] as const) {
    expect(sizeOf(message({ type: "text", text }))).toEqual({ bytes: empty + bytes, images: 0 })
  }
})

test("images have the bytes of their base64 and are counted, also within blocks of other types", () => {
  const data = "A".repeat(4_000_000)
  for (const block of [
    { type: "image", data, mimeType: "image/png" },
    { type: "acme:seen", source: { type: "base64", media_type: "image/jpeg", data } },
    { type: "acme:seen", image_url: { url: `data:image/png;base64,${data}` } },
  ]) {
    const { bytes, images } = sizeOf(message(block, { type: "text", text: "two" }, block))
    expect(images).toBe(2)
    expect(bytes).toBeGreaterThanOrEqual(8_000_000)
    expect(bytes).toBeLessThan(8_000_300)
  }
})

test("the data of a document has its bytes and is no image, and a file is its path", () => {
  const data = "A".repeat(1_000)
  const document = sizeOf(message({ type: "document", source: { media_type: "application/pdf", data } }))
  expect(document.images).toBe(0)
  expect(document.bytes).toBeGreaterThanOrEqual(1_000)
  const file = sizeOf(message({ type: "file", path: "/a/b.png", mimeType: "image/png", size: 9_000_000 }))
  expect(file.images).toBe(0)
  expect(file.bytes).toBeLessThan(150)
})

test("a message has at least the bytes of each of its texts, and never fewer with a further block", () => {
  const block = fc.oneof(
    fc.string({ unit: "binary" }).map((text) => ({ type: "text", text })),
    fc.string({ unit: "binary" }).map((output) => ({ type: "acme:result", output })),
    fc.base64String().map((data) => ({ type: "image", data, mimeType: "image/png" })),
  )
  holds(
    fc.property(fc.array(block, { maxLength: 5 }), block, (blocks, more) => {
      const { bytes, images } = sizeOf(message(...blocks))
      const least = blocks.reduce((sum, one) => sum + Buffer.byteLength(Object.values(one)[1] as string), 0)
      expect(bytes).toBeGreaterThanOrEqual(least)
      expect(images).toBe(blocks.filter(({ type }) => type === "image").length)
      const longer = sizeOf(message(...blocks, more))
      expect(longer.bytes).toBeGreaterThan(bytes)
      expect(longer.images).toBeGreaterThanOrEqual(images)
    }),
  )
})

test("sizes are added block by block, and a message of any shape has one", () => {
  const block = fc.oneof(
    fc.jsonValue().map((value) => ({ type: "acme:any", value })),
    fc.base64String().map((data) => ({ type: "image", data, mimeType: "image/png" })),
  )
  const blocks = fc.array(block, { minLength: 1, maxLength: 4 })
  const empty = sizeOf(message()).bytes
  holds(
    fc.property(blocks, blocks, (some, others) => {
      const [one, other, both] = [
        sizeOf(message(...some)),
        sizeOf(message(...others)),
        sizeOf(message(...some, ...others)),
      ]
      // There is a comma between the two.
      expect(both.bytes - empty).toBe(one.bytes - empty + (other.bytes - empty) + 1)
      expect(both.images).toBe(one.images + other.images)
    }),
  )
  const deep = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`) as unknown
  for (const odd of [
    { role: "acme:note" },
    message({ type: "image", data: 5 }),
    message({ type: "acme:deep", deep }),
  ]) {
    expect(Number.isSafeInteger(sizeOf(odd as Message).bytes)).toBe(true)
    expect(sizeOf(odd as Message).images).toBe(0)
  }
})

test("commands and summaries count, usage and other fields that are not sent do not", () => {
  const output = "x".repeat(100)
  const run = { role: "bashExecution", command: "ls", output } as unknown as Message
  expect(sizeOf(run).bytes).toBeGreaterThan(100)
  expect(sizeOf({ ...run, details: "y".repeat(100) })).toEqual(sizeOf(run))
})
