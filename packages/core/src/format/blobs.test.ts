import { createHash } from "node:crypto"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import * as any from "../../test/records.ts"
import { applyBlobs, blobRefs, mayHoldBlobs, type PlannedBlob, planBlobs, restoreBlobs } from "./blobs.ts"
import { toEncodedEntry } from "./line.ts"

const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
const place = { id: "a", parentId: null, seq: 1, timestamp: "t" }
const base64 = (bytes: number) => Buffer.from(Uint8Array.from({ length: bytes }, (_, i) => i % 251)).toString("base64")
const image = (data: string) => ({ type: "image", data, mimeType: "image/png" })
const user = (...content: unknown[]) => ({ type: "message", ...place, message: { role: "user", content } })

function move<E extends object>(entry: E, planned: readonly PlannedBlob[]) {
  const store = new Map(planned.map(({ bytes }) => [hash(bytes), bytes]))
  const refs = planned.map(({ pointer, encoding, bytes }) => ({ pointer, encoding, hash: hash(bytes) }))
  return { store, moved: applyBlobs(entry, refs) }
}

test("restored entries are equal to the originals: keys, their order, and every character", () => {
  const limits = { textUnits: 3, imageChars: 4 }
  const withImages = fc.tuple(
    any.entry,
    fc.constantFrom("QUJD", "QUI=", "QUJ", "QR==", "no base64", "\ud800\ud800\ud800\ud800"),
  )
  holds(
    fc.property(withImages, ([own, data]) => {
      const entry: object = { ...own, blobs: undefined, pictures: [image(data)] }
      const { store, moved } = move(entry, planBlobs(entry, limits))
      expect(planBlobs(moved, limits)).toEqual([])
      expect(blobRefs(moved)).toHaveLength(planBlobs(entry, limits).length)
      const { entry: restored, missing } = restoreBlobs(moved, (name) => store.get(name))
      expect(missing).toEqual([])
      expect(JSON.stringify(restored)).toBe(JSON.stringify(entry))
    }),
    120,
  )
})

test("strings over 500,000 units and images from 1,024 characters of base64 are moved, shorter ones are not", () => {
  const [long, short] = ["x".repeat(500_001), "x".repeat(500_000)]
  const entry = user(
    { type: "text", text: long },
    { type: "text", text: short },
    image(base64(768)),
    image(base64(765)),
  )
  expect(planBlobs(entry).map(({ pointer, encoding, bytes }) => [pointer, encoding, bytes.length])).toEqual([
    ["/message/content/0/text", "utf8", 500_001],
    ["/message/content/2/data", "base64", 768],
  ])
})

test("the data of an image is moved from any location, decoded; the data of other objects is not", () => {
  const entry = {
    type: "custom",
    ...place,
    data: { shots: [image(base64(900))], other: { type: "x", data: base64(900) } },
  }
  expect(planBlobs(entry)).toMatchObject([{ pointer: "/data/shots/0/data", encoding: "base64" }])
})

test("image data that is not canonical base64 is moved as text", () => {
  for (const data of [`data:image/png;base64,${base64(900)}`, `${base64(900)}\n`, base64(901).replaceAll("=", "")]) {
    expect(planBlobs(user(image(data)))).toMatchObject([
      { pointer: "/message/content/0/data", encoding: "utf8", bytes: new TextEncoder().encode(data) },
    ])
  }
})

test("a string with a lone surrogate is not moved", () => {
  expect(planBlobs(user({ type: "text", text: `${"x".repeat(600_000)}\ud800` }))).toEqual([])
})

test("a BOM at the start of a text is restored", () => {
  const entry = user({ type: "text", text: "\ufeffhello" })
  const { store, moved } = move(entry, planBlobs(entry, { textUnits: 3 }))
  expect(restoreBlobs(moved, (name) => store.get(name)).entry).toEqual(entry)
})

test("base fields are never moved", () => {
  const entry = {
    type: "custom",
    id: "x".repeat(9),
    parentId: "y".repeat(9),
    seq: 1,
    timestamp: "z".repeat(9),
    customType: "n",
  }
  expect(planBlobs(entry, { textUnits: 3 })).toEqual([])
})

test("a text that looks like a reference stays a text", () => {
  const text = `blob:sha256:${hash(new Uint8Array())}`
  const entry = user({ type: "text", text }, image(text))
  expect(blobRefs(entry)).toEqual([])
  expect(restoreBlobs(entry, () => new Uint8Array()).entry).toBe(entry)
  const long = user({ type: "text", text }, { type: "text", text: "long enough" })
  const { store, moved } = move(long, planBlobs(long, { textUnits: 10 }).slice(1))
  expect(restoreBlobs(moved, (name) => store.get(name))).toEqual({ entry: long, missing: [] })
})

test("in logs of other programs only the data of an image block is a reference", () => {
  const bytes = Uint8Array.of(1, 2, 3)
  const ref = `blob:sha256:${hash(bytes)}`
  const call = { type: "toolCall", id: "c", name: "n", arguments: image(ref) }
  const entry = user({ type: "text", text: ref }, image(ref), call)
  expect(blobRefs(entry, { foreign: true })).toEqual([
    { pointer: "/message/content/1/data", encoding: "base64", hash: hash(bytes) },
  ])
  const { entry: restored } = restoreBlobs(entry, () => bytes, { foreign: true })
  expect(restored).toEqual(user({ type: "text", text: ref }, image("AQID"), call))
})

test("a missing blob leaves its reference and its location, and the others are restored", () => {
  const entry = user({ type: "text", text: "first" }, { type: "text", text: "second" }, { type: "text", text: "first" })
  const { store, moved } = move(entry, planBlobs(entry, { textUnits: 4 }))
  const gone = hash(new TextEncoder().encode("first"))
  const { entry: restored, missing } = restoreBlobs(moved, (name) => (name === gone ? undefined : store.get(name)))
  expect(missing).toEqual([gone])
  const ref = { type: "text", text: `blob:sha256:${gone}` }
  expect(restored).toEqual({
    ...user(ref, { type: "text", text: "second" }, ref),
    blobs: { "/message/content/0/text": "utf8", "/message/content/2/text": "utf8" },
  })
  expect(restoreBlobs(restored, (name) => store.get(name))).toEqual({ entry, missing: [] })
})

test("bytes that are not UTF-8 count as missing for a text", () => {
  const entry = user({ type: "text", text: "first" })
  const { moved } = move(entry, planBlobs(entry, { textUnits: 4 }))
  expect(restoreBlobs(moved, () => Uint8Array.of(0xff))).toMatchObject({ entry: moved, missing: [expect.any(String)] })
})

test("an entry with a blobs field of another program keeps it, and its strings", () => {
  const entry = { type: "x_future", ...place, blobs: ["a"], text: "long enough" }
  expect(planBlobs(entry, { textUnits: 3 })).toEqual([])
  expect(restoreBlobs(entry, () => undefined)).toEqual({ entry, missing: [] })
})

test("a second move keeps the locations of the first", () => {
  const entry = user({ type: "text", text: "first" }, { type: "text", text: "second" })
  const first = move(entry, planBlobs(entry, { textUnits: 4 }).slice(0, 1))
  const second = move(first.moved, planBlobs(first.moved, { textUnits: 4 }))
  expect(blobRefs(second.moved)).toHaveLength(2)
  const bytes = (name: string) => first.store.get(name) ?? second.store.get(name)
  expect(restoreBlobs(second.moved, bytes)).toEqual({ entry, missing: [] })
})

test("a moved location is not planned again", () => {
  const entry = user({ type: "text", text: "x".repeat(100) })
  const { moved } = move(entry, planBlobs(entry, { textUnits: 50 }))
  expect(planBlobs(moved, { textUnits: 50 })).toEqual([])
})

test("mayHoldBlobs never misses an entry with something to move", () => {
  const limits = { textUnits: 8, imageChars: 4 }
  holds(
    fc.property(any.entry, (entry) => {
      const moves = planBlobs(entry, limits).length > 0
      expect(mayHoldBlobs(toEncodedEntry(entry as never), limits) || !moves).toBe(true)
    }),
    120,
  )
  expect(mayHoldBlobs(toEncodedEntry(user({ type: "text", text: "x".repeat(2_000) }) as never))).toBe(false)
  expect(mayHoldBlobs(toEncodedEntry(user({ type: "text", text: "x".repeat(500_001) }) as never))).toBe(true)
})

test("deeply nested entries are searched", () => {
  let deep: unknown = "x".repeat(10)
  for (let i = 0; i < 100_000; i++) deep = [deep]
  expect(planBlobs({ type: "custom", ...place, deep }, { textUnits: 3 })).toHaveLength(1)
})
