/** Images are sent as their receiver takes them, or named with its rule and the way out. */
import type { ContentBlock, ImageBlock } from "@sessions/core"
import { describe, expect, test } from "vitest"
import { toAiSdk } from "../src/ai-sdk/index.ts"
import { type AnthropicOptions, toAnthropic } from "../src/anthropic/index.ts"
import { toGemini } from "../src/gemini/index.ts"
import { type Context, toolResult } from "../src/index.ts"
import { sidesOf, typeOf } from "../src/shared/image-header.ts"
import { newSession } from "./answers.ts"

const base64 = (bytes: readonly number[]) => btoa(String.fromCharCode(...bytes))
const be = (value: number, length: number) => Array.from({ length }, (_, i) => (value >>> (8 * (length - 1 - i))) & 255)
const le = (value: number, length: number) => be(value, length).toReversed()
const ascii = (text: string) => Array.from(text, (character) => character.charCodeAt(0))

const png = (width: number, height: number) =>
  base64([
    0x89,
    ...ascii("PNG\r\n\x1a\n"),
    ...be(13, 4),
    ...ascii("IHDR"),
    ...be(width, 4),
    ...be(height, 4),
    8,
    6,
    0,
    0,
    0,
  ])
const gif = (width: number, height: number) => base64([...ascii("GIF89a"), ...le(width, 2), ...le(height, 2), 0, 0, 0])
/** With a thumbnail of `before` bytes, and fill bytes, in front of the frame header. */
const jpeg = (width: number, height: number, before = 20) =>
  base64([
    0xff,
    0xd8,
    0xff,
    0xe1,
    ...be(before + 2, 2),
    ...new Array<number>(before).fill(7),
    0xff,
    0xc4,
    ...be(4, 2),
    1,
    2,
    0xff,
    0xff,
    0xff,
    0xc2,
    ...be(17, 2),
    8,
    ...be(height, 2),
    ...be(width, 2),
    3,
    0,
    0,
  ])
const riff = (kind: string, data: readonly number[]) =>
  base64([...ascii("RIFF"), ...le(99, 4), ...ascii("WEBP"), ...ascii(kind), ...le(9, 4), ...data])
const webp = {
  lossy: (width: number, height: number) =>
    riff("VP8 ", [1, 2, 3, 0x9d, 1, 0x2a, ...le(width, 2), ...le(height, 2), 0, 0]),
  lossless: (width: number, height: number) =>
    riff("VP8L", [0x2f, ...le(((width - 1) | ((height - 1) << 14)) >>> 0, 4), 0, 0, 0, 0, 0, 0]),
  extended: (width: number, height: number) =>
    riff("VP8X", [0, 0, 0, 0, ...le(width - 1, 3), ...le(height - 1, 3), 0, 0]),
}

const heic = base64([...be(0x18, 4), ...ascii("ftypheic"), ...be(0, 4), ...ascii("mif1heic")])

describe("the first bytes of an image say", () => {
  test("its type", () => {
    expect([png(1, 1), gif(1, 1), jpeg(1, 1), webp.lossy(1, 1), heic, "AAAA", ""].map(typeOf)).toEqual([
      "image/png",
      "image/gif",
      "image/jpeg",
      "image/webp",
      "image/heic",
      undefined,
      undefined,
    ])
  })

  test("its sides", () => {
    for (const data of [
      png(9001, 7),
      gif(9001, 7),
      jpeg(9001, 7),
      jpeg(9001, 7, 60_000),
      webp.lossy(9001, 7),
      webp.lossless(9001, 7),
      webp.extended(9001, 7),
    ])
      expect(sidesOf(data)).toEqual([9001, 7])
  })

  test("nothing where it is cut off, is no image, or has a type that is not read", () => {
    for (const data of [png(3, 3), gif(3, 3), jpeg(3, 3), webp.extended(3, 3)]) {
      for (const broken of [data.slice(0, 12), data.slice(0, 3)]) expect(sidesOf(broken)).toBeUndefined()
      for (let end = 0; end < data.length; end++) expect(() => sidesOf(data.slice(0, end))).not.toThrow()
    }
    for (const other of ["", "%%%%", "AAAA".repeat(20), heic]) expect(sidesOf(other)).toBeUndefined()
  })
})

/** A context with a user's image and a result's image of each block. */
async function contextOf(
  ...images: readonly ImageBlock[]
): Promise<{ readonly context: Context; readonly ids: readonly string[] }> {
  const session = await newSession()
  const calls = images.map((_, i) => ({ type: "toolCall", id: `c${i}`, name: "see", arguments: {} }) as const)
  const { ids } = await session.append([
    { type: "message", message: { role: "user", content: [{ type: "text", text: "look" }] } },
    { type: "message", message: { role: "assistant", content: calls } },
    ...calls.map((call, i) => toolResult(call, [{ type: "text", text: "seen" }, images[i] as ContentBlock])),
  ])
  return { context: await session.context(), ids }
}

const image = (mimeType: string, data = "AAAA"): ImageBlock => ({ type: "image", mimeType, data })

test.each([
  ["image/jpg", "AAAA", "image/jpeg", "AAAA"],
  ["IMAGE/PNG", "AAAA", "image/png", "AAAA"],
  ["image/jpeg; charset=binary", "AAAA", "image/jpeg", "AAAA"],
  ["image/png", jpeg(3, 3), "image/jpeg", jpeg(3, 3)],
  ["application/octet-stream", png(3, 3), "image/png", png(3, 3)],
  ["image/png", "data:image/webp;base64,AAAA", "image/webp", "AAAA"],
  ["image/png", "A+/A\nAAAA\r\n", "image/png", "A+/AAAAA"],
  ["image/png", "A-_A", "image/png", "A+/A"],
])("an image called %s with the data %s is sent as %s", async (mimeType, data, sentType, sentData) => {
  const { context } = await contextOf(image(mimeType, data))
  const requests = [
    [toAnthropic(context), { media_type: sentType, data: sentData }],
    [toGemini(context, { imagesInResults: true }), { mimeType: sentType, data: sentData }],
    [toAiSdk(context), { data: sentData, mediaType: sentType }],
  ] as const
  for (const [{ request, diagnostics }, fields] of requests) {
    const sent = JSON.stringify(request)
    for (const [key, value] of Object.entries(fields))
      expect(sent).toContain(`${JSON.stringify(key)}:${JSON.stringify(value)}`)
    expect(diagnostics).toEqual([])
  }
})

const HUGE = "A".repeat(5 * 1024 * 1024 + 4)
const ANTHROPIC_REFUSES: readonly (readonly [ImageBlock, string])[] = [
  [image("image/heic"), "Anthropic takes image/jpeg, image/png, image/gif, image/webp only"],
  [image("image/svg+xml"), "Anthropic takes image/jpeg, image/png, image/gif, image/webp only"],
  [image("image/png", HUGE), "Anthropic takes 5242880 characters of base64 at most"],
  [image("image/png", png(8001, 10)), "Anthropic takes 8000 pixels a side at most"],
]

test.each(ANTHROPIC_REFUSES)(
  "an image that Anthropic refuses is a text, and its rule, its entry and the way out are named",
  async (refused, rule) => {
    const { context, ids } = await contextOf(refused)
    const { request, diagnostics } = toAnthropic(context)
    const text = `[An image of the type ${refused.mimeType} that cannot be shown here.]`
    const content = [
      { type: "text", text: "seen" },
      { type: "text", text },
    ]
    expect(request.messages.at(-1)?.content).toMatchObject([{ type: "tool_result", content }])
    expect(diagnostics).toMatchObject([{ code: "images", entryId: ids[2], count: 1 }])
    expect(diagnostics[0]?.message).toContain(rule)
    expect(diagnostics[0]?.message).toContain(ids[2])
    expect(diagnostics[0]?.message).toMatch(/session\.edit.*session\.tombstone/)
  },
)

test("images of more than 2,000 pixels a side are refused by Anthropic in a request of more than 20 images", async () => {
  const some = (count: number) =>
    Array.from({ length: count }, (_, i) => image("image/png", png(i === 0 ? 2001 : 2000, 10)))
  const few = toAnthropic((await contextOf(...some(20))).context)
  expect(few.diagnostics).toEqual([])
  const many = toAnthropic((await contextOf(...some(21))).context)
  expect(many.diagnostics).toMatchObject([{ code: "images", count: 1 }])
  expect(many.diagnostics[0]?.message).toContain("2000 pixels a side at most in a request of more than 20 images")
})

test("Gemini takes photos of phones and no GIF; the AI SDK takes what the provider of its model takes", async () => {
  const heic = (await contextOf(image("image/heic"))).context
  const huge = (await contextOf(image("image/png", HUGE))).context
  const codes = ({ diagnostics }: ReturnType<typeof toAiSdk>) => diagnostics.map(({ code }) => code)
  expect(toGemini(heic).diagnostics.map(({ code }) => code)).toEqual(["images_moved"])
  expect(toGemini((await contextOf(image("image/gif"))).context).diagnostics).toMatchObject([{ code: "images" }])
  expect(
    [undefined, "google.generative-ai", "anthropic.messages", "openai.responses"].map((provider) =>
      codes(toAiSdk(heic, provider === undefined ? {} : { model: { provider } })),
    ),
  ).toEqual([["images"], ["images_moved"], ["images"], ["images"]])
  expect(codes(toAiSdk(huge, { model: { provider: "anthropic.messages" } }))).toEqual(["images"])
  expect(codes(toAiSdk(huge, { model: { provider: "openai.responses" } }))).toEqual([])
})

test("data that is no base64 is named", async () => {
  for (const data of ["a?b=", "AAAAA", "<svg/>"]) {
    const { request, diagnostics } = toAnthropic((await contextOf(image("image/png", data))).context)
    expect(JSON.stringify(request)).not.toContain(data)
    expect(diagnostics[0]?.message).toContain("Anthropic takes base64 only")
  }
})

test("the oldest images of a request that is too large are left out, in steps: after one the next requests begin as the one before", async () => {
  const data = "A".repeat(3_000_000)
  const { context: whole } = await contextOf(
    ...Array.from({ length: 12 }, (_, i) => image("image/png", String.fromCharCode(65 + i).repeat(4) + data)),
  )
  const sent: number[][] = []
  for (const count of [1, 9, 10, 12]) {
    // With the question and the calls before the results.
    const { request, diagnostics } = toAnthropic({ ...whole, messages: whole.messages.slice(0, 2 + count) })
    const letters = [...JSON.stringify(request).matchAll(/"data":"(.)/g)].map(
      ([, letter]) => (letter ?? "").charCodeAt(0) - 65,
    )
    sent.push(letters)
    const left = diagnostics.find(({ code }) => code === "images")
    expect(letters.length + (left?.count ?? 0)).toBe(count)
    expect(letters.length * (data.length + 4)).toBeLessThanOrEqual(28_000_000)
  }
  expect(sent.map(([first]) => first)).toEqual([0, 0, 6, 6])
  expect(sent.at(-1)).toEqual([6, 7, 8, 9, 10, 11])
})

test("the oldest images of a request of too many are left out, in steps", async () => {
  const png = (i: number) => image("image/png", `iVBORw0KGgo${String.fromCharCode(65 + i)}`)
  const counts = async (count: number, o: AnthropicOptions = {}) => {
    const { context } = await contextOf(...Array.from({ length: count }, (_, i) => png(i % 26)))
    const { request, diagnostics } = toAnthropic(context, o)
    return [JSON.stringify(request).split('"base64"').length - 1, diagnostics[0]?.count, diagnostics[0]?.message]
  }
  const says = expect.stringContaining(
    "Anthropic takes 100 images at most of a request; newer ones are sent",
  ) as unknown
  expect(await counts(100)).toEqual([100, undefined, undefined])
  expect(await counts(101)).toEqual([50, 51, says])
  expect(await counts(150)).toEqual([99, 51, says])
  expect(await counts(600, { maxImages: 600 })).toEqual([600, undefined, undefined])
})

describe("images of results for Gemini", () => {
  test("are behind all responses, and named; from Gemini 3 on they are in them, but for those that it does not take there", async () => {
    const { context, ids } = await contextOf(image("image/png"), image("image/webp"))
    const { request, diagnostics } = toGemini(context)
    const kinds = request.contents.slice(-2).map(({ parts }) => parts.map((part) => Object.keys(part)[0]))
    expect(kinds).toEqual([
      ["functionResponse", "functionResponse"],
      ["text", "inlineData", "text", "inlineData"],
    ])
    expect(diagnostics).toMatchObject([{ code: "images_moved", count: 2, entryId: ids[2] }])
    expect(toGemini(context, { model: "gemini-2.5-flash" })).toEqual({ request, diagnostics })
    const newer = toGemini(context, { model: "models/gemini-3-pro-preview" })
    expect(newer.request.contents.at(-1)?.parts.map(({ functionResponse }) => functionResponse?.parts?.length)).toEqual(
      [1, 1],
    )
    expect(newer.diagnostics).toEqual([])
    expect(JSON.stringify(toGemini(context, { imagesInResults: true }).request)).toContain('"parts":[{"inlineData"')
    const heic = toGemini((await contextOf(image("image/heic"))).context, { model: "gemini-3-flash" })
    expect(heic.request.contents.slice(-2).map(({ parts }) => parts.map((part) => Object.keys(part)[0]))).toEqual([
      ["functionResponse"],
      ["text", "inlineData"],
    ])
  })
})
