import * as fc from "fast-check"
import { expect, test, vi } from "vitest"
import { holds } from "../../../test/property.ts"
import type { ContentBlock, Message } from "../../format/message.ts"
import { estimateMessage } from "../../format/tokens.ts"
import { cutMessage, shortenedResult, unitsOfTexts, withoutImages } from "./step-forms.ts"

const text = (value: string): ContentBlock => ({ type: "text", text: value })
const user = (...content: ContentBlock[]): Message => ({ role: "user", content })
const image = { type: "image", data: "A".repeat(4_000), mimeType: "image/png" } as const

test("a long result keeps its beginning and its end in the form that pruning gives it, a short one all", () => {
  const result = (length: number): Message => ({
    role: "toolResult",
    toolCallId: "c",
    isError: false,
    content: [text(`${"a".repeat(length / 2)}${"b".repeat(length / 2)}`)],
  })
  expect(shortenedResult(result(2_000))).toEqual(result(2_000))
  expect(shortenedResult(result(8_000)).content).toEqual([
    text(`${"a".repeat(500)}\n[... 7000 of 8000 characters cut ...]\n${"b".repeat(500)}`),
  ])
})

test("in the place of an image or a file is a text: what it was, its type, its size and its name", () => {
  const file = {
    type: "acme:file",
    name: "plan.pdf",
    source: { media_type: "application/pdf", data: "B".repeat(400) },
  } as const
  expect(withoutImages(user(text("see"), image, { ...image, path: "/tmp/a.png" }, file)).content).toEqual([
    text("see"),
    text("[Image left out: image/png, 3 KB]"),
    text("[Image left out: image/png, 3 KB, /tmp/a.png]"),
    text("[File left out: application/pdf, 300 bytes, plan.pdf]"),
  ])
  const plain = user(text("no image"), { type: "file", path: "/a.png", mimeType: "image/png" })
  expect(withoutImages(plain)).toBe(plain)
})

test("a cut keeps both ends of the texts, the calls, the thoughts and the images, and of unknown blocks the type", () => {
  const call = { type: "toolCall", id: "c", name: "read", arguments: { path: "x".repeat(900) } } as const
  const thinking = { type: "thinking", thinking: "long ".repeat(400), signature: "s" } as const
  const found = { type: "acme:search", found: "y".repeat(4_000) } as const
  const cut = cutMessage(user(thinking, text(`head${"-".repeat(9_000)}tail`), found, image, call), 64)
  expect(cut.content).toEqual([
    thinking,
    text(
      expect.stringMatching(
        /^head-+\n\[\.\.\. \d+ of \d+ characters cut \.\.\.\]\n-+tail|\[acme:search left out\]/,
      ) as string,
    ),
    text(expect.stringContaining("left out]") as string),
    image,
    call,
  ])
  expect(unitsOfTexts(cut)).toBeLessThanOrEqual(64)
})

test("a cut has at most its size, shortens no text that is short enough, and cutting again changes nothing", () => {
  const texts = fc.string({
    unit: fc.constantFrom("word ", "漢", "🙂", "\n", "  ", "x9_"),
    minLength: 0,
    maxLength: 900,
  })
  holds(
    fc.property(fc.array(texts, { maxLength: 3 }), fc.integer({ min: 64, max: 400 }), (parts, most) => {
      const message = user(...parts.map(text))
      const cut = cutMessage(message, most)
      expect(unitsOfTexts(cut)).toBeLessThanOrEqual(most)
      if (estimateMessage(message) <= most) expect(cut).toBe(message)
      expect(cutMessage(cut, most)).toBe(cut)
      // Each half of a pair alone would be escaped.
      expect(JSON.stringify(cut.content)).not.toMatch(/\\ud[89a-f]/)
    }),
    100,
  )
})

test("the texts of a message are estimated once, however many steps ask for them", () => {
  const content = [{ type: "text" as const, text: "word ".repeat(100) }]
  const estimated = vi.spyOn(content, "filter")
  const message: Message = { role: "user", content }
  for (let step = 0; step < 100; step++) expect(cutMessage(message, 1_000)).toBe(message)
  expect(estimated).toHaveBeenCalledTimes(1)
})
