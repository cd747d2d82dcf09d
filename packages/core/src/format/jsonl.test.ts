import * as fc from "fast-check"
import { expect, test } from "vitest"
import { cpuTime } from "../../test/cpu-time.ts"
import { holdsAsync } from "../../test/property.ts"
import { encodeLines, type ReadLine, readLines } from "./jsonl.ts"

const encoder = new TextEncoder()

async function read(source: Iterable<Uint8Array | string>, maxLineBytes?: number): Promise<ReadLine[]> {
  const lines: ReadLine[] = []
  for await (const line of readLines(source, maxLineBytes === undefined ? {} : { maxLineBytes })) lines.push(line)
  return lines
}

const texts = async (source: Iterable<Uint8Array | string>) => (await read(source)).map(({ line }) => line)

test("lines end at LF alone: CR, BOM, U+2028, U+2029, U+0085 and NUL are ordinary", async () => {
  const line = "\ufeffa\rb\u2028c\u2029d\u0085e\0f\r"
  expect(await texts([encoder.encode(`${line}\n${line}\n`)])).toEqual([line, line])
})

test("bytes after the last LF are a line that is not terminated; an LF at the end adds no line", async () => {
  expect(await read([encoder.encode("a\n\nbé")])).toEqual([
    { line: "a", at: 0, bytes: 1, terminated: true },
    { line: "", at: 2, bytes: 0, terminated: true },
    { line: "bé", at: 3, bytes: 3, terminated: false },
  ])
  expect(await read([encoder.encode("a\n")])).toHaveLength(1)
  expect(await read([])).toEqual([])
  expect(await read([new Uint8Array(), ""])).toEqual([])
})

test("lines come back whatever the chunks, as bytes or as text", async () => {
  const unit = fc.constantFrom("a", "é", "€", "𝄞", "\n", "\r", "\ufeff", "\u2028")
  await holdsAsync(
    fc.asyncProperty(
      fc.array(unit, { maxLength: 40 }),
      fc.array(fc.nat({ max: 9 })),
      fc.boolean(),
      async (us, cuts, asText) => {
        const text = us.join("")
        const whole = asText ? text : encoder.encode(text)
        const chunks: (string | Uint8Array)[] = []
        let from = 0
        for (const cut of cuts) {
          chunks.push(whole.slice(from, from + cut))
          from += cut
        }
        chunks.push(whole.slice(from))
        const lines = text.split("\n")
        const last = lines.at(-1) === "" ? lines.slice(0, -1) : lines
        expect(await texts(chunks)).toEqual(last)
        let at = 0
        for (const line of await read(chunks)) {
          expect(line.at).toBe(at)
          at += line.bytes + 1
        }
      },
    ),
    200,
  )
})

test.each([
  ["a stray continuation", [0x80], 0],
  ["an overlong slash", [0x61, 0xc0, 0xaf], 1],
  ["an overlong three", [0xe0, 0x80, 0x80], 0],
  ["an overlong four", [0xf0, 0x80, 0x80, 0x80], 0],
  ["a surrogate", [0x61, 0x62, 0xed, 0xa0, 0x80], 2],
  ["beyond Unicode", [0xf4, 0x90, 0x80, 0x80], 0],
  ["a cut sequence", [0xc3, 0xa9, 0xe2, 0x82], 2],
  ["FF", [0xf0, 0x9d, 0x84, 0x9e, 0xff], 4],
])("bytes that are not UTF-8 are reported with their offset, and reading goes on: %s", async (_, bad, badAt) => {
  const before = encoder.encode("first\n")
  const source = [before, Uint8Array.from(bad), encoder.encode("\nlast")]
  expect(await read(source)).toEqual([
    { line: "first", at: 0, bytes: 5, terminated: true },
    { problem: "not_utf8", at: 6, bytes: bad.length, badAt: 6 + badAt, raw: Uint8Array.from(bad), terminated: true },
    { line: "last", at: 7 + bad.length, bytes: 4, terminated: false },
  ])
})

test("a lone surrogate in a source of text is reported, not replaced", async () => {
  expect(await read(["ab\ud834", "\ud834\udd1e\n\udd1e"])).toEqual([
    {
      problem: "not_utf8",
      at: 0,
      bytes: 9,
      badAt: 2,
      raw: Uint8Array.of(97, 98, 237, 160, 180, 240, 157, 132, 158),
      terminated: true,
    },
    { problem: "not_utf8", at: 10, bytes: 3, badAt: 10, raw: Uint8Array.of(237, 180, 158), terminated: false },
  ])
  expect(await texts(["a\ud834", "\udd1eb"])).toEqual(["a𝄞b"])
  expect((await read(["a\ud834", encoder.encode("b")]))[0]?.problem).toBe("not_utf8")
})

test("a line over the limit is reported with its length, and the next one is read", async () => {
  const source = [encoder.encode("12345"), encoder.encode("6\n12345\n1234567")]
  expect(await read(source, 5)).toEqual([
    { problem: "too_long", at: 0, bytes: 6, terminated: true },
    { line: "12345", at: 7, bytes: 5, terminated: true },
    { problem: "too_long", at: 13, bytes: 7, terminated: false },
  ])
})

test("a source may reuse its buffer", async () => {
  const buffer = new Uint8Array(2)
  function* source() {
    for (const text of ["ab", "cd", "\ne"]) yield buffer.subarray(0, encoder.encodeInto(text, buffer).written)
  }
  expect(await texts(source())).toEqual(["abcd", "e"])
})

test("a line of 32 MB in chunks of 1 KB is read in time linear in its length", async () => {
  const chunk = encoder.encode("x".repeat(1_024))
  const start = cpuTime()
  const [line] = await read(Array.from({ length: 32_768 }, () => chunk))
  expect(line?.bytes).toBe(32_768 * chunk.length)
  // Joining the pieces again at each chunk would copy 550 GB.
  expect(cpuTime() - start).toBeLessThan(10_000)
})

test("an error of the source is passed on", async () => {
  async function* source() {
    yield encoder.encode("a\n")
    await Promise.reject(new Error("disk on fire"))
  }
  const lines: ReadLine[] = []
  await expect(
    (async () => {
      for await (const line of readLines(source())) lines.push(line)
    })(),
  ).rejects.toThrow("disk on fire")
  expect(lines).toHaveLength(1)
})

test("lines are encoded with an LF each, and refused if they would not be read back unchanged", async () => {
  expect(await texts([encodeLines(["a", "é\u2028", ""])])).toEqual(["a", "é\u2028", ""])
  expect(encodeLines([])).toHaveLength(0)
  for (const line of ["a\nb", "\ud800"]) {
    expect(() => encodeLines([line])).toThrow(expect.objectContaining({ code: "invalid" }))
  }
})
