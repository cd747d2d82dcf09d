import { expect, test } from "vitest"
import { result } from "../../../test/pruning.ts"
import type { ContentBlock } from "../../format/message.ts"
import { trimResult } from "./cut-result.ts"

const text = (value: string): ContentBlock => ({ type: "text", text: value })

function trimmed(...blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  return trimResult(result("a", blocks), { head: 4, tail: 4 }).content ?? []
}

test("the text of all blocks is cut as one, with one notice in place of the first removed part", () => {
  expect(trimmed(text("abcdefghijkl"))).toEqual([text("abcd\n[... 4 of 12 characters cut ...]\nijkl")])
  expect(trimmed(text("ab"), text("cdef"), text("ghij"), text("kl"))).toEqual([
    text("ab"),
    text("cd\n[... 4 of 12 characters cut ...]\n"),
    text("ij"),
    text("kl"),
  ])
  expect(trimmed(text("abcd"), text("efgh"), text("ijkl"))).toEqual([
    text("abcd"),
    text("\n[... 4 of 12 characters cut ...]\n"),
    text("ijkl"),
  ])
})

test("images, signed text and blocks of unknown types stay whole and in place, and do not count", () => {
  const image = { type: "image" as const, data: "aGk=", mimeType: "image/png" }
  const signed = { type: "text" as const, text: "s".repeat(99), textSignature: "x" }
  const other = { type: "acme:chart" as const, text: "c".repeat(99) }
  expect(trimmed(text("abcdef"), image, signed, other, text("ghijkl"))).toEqual([
    text("abcd\n[... 4 of 12 characters cut ...]\n"),
    image,
    signed,
    other,
    text("ijkl"),
  ])
})

test("no surrogate pair is split at either end, and the notice counts both halves", () => {
  expect(trimmed(text(`abc😀${"-".repeat(9)}😀xyz`))).toEqual([text("abc\n[... 13 of 19 characters cut ...]\nxyz")])
  // The halves belong to no pair.
  expect(trimmed(text(`abc\ud83d--------\ude00xyz`))).toEqual([
    text("abc\ud83d\n[... 8 of 16 characters cut ...]\n\ude00xyz"),
  ])
})

test("other fields of a text block stay", () => {
  expect(trimmed({ ...text("abcdefghijkl"), cache: true })).toMatchObject([{ cache: true }])
})
