/** Parts whose bytes were changed so that they have more or fewer lines than they should have. */
import * as fs from "node:fs"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import type { ReadRange, SessionStorage } from "@sessions/core/storage"
import { exportSession, verifySession } from "@sessions/core/transfer"
import { describe, expect, test } from "vitest"
import { fill, lineAt, linesOf, linesTo, makeRoot, openAt } from "./helpers.ts"

const LINES = 48
const LF = 10
/** Of a line: its `{`, its last byte, and its line break, which `at` is. */
const CHANGES: Readonly<Record<string, (bytes: Buffer, at: number) => Buffer>> = {
  "a line break in place of another byte": (bytes, at) => withByte(bytes, at - 5, LF),
  "another byte in place of a line break": (bytes, at) => withByte(bytes, at, 120),
  "a line break more": (bytes, at) =>
    Buffer.concat([bytes.subarray(0, at - 5), Buffer.from([LF]), bytes.subarray(at - 5)]),
  "a line break less": (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
  "a line less": (bytes, at) =>
    Buffer.concat([bytes.subarray(0, at + 1), bytes.subarray(bytes.indexOf(LF, at + 1) + 1)]),
}

describe.each(Object.keys(CHANGES))("%s in a part that has ended", (change) => {
  const cases = [0, 1, 2].flatMap((part) => ["first", "middle", "last"].map((line) => ({ part, line })))

  test.each(cases)(
    "is `corrupt`, and hides and shifts no line of another part: part $part, $line line",
    async (which) => {
      const { root, from, to } = await damaged(change, which)
      const isElsewhere = (seq: number): boolean => seq < from || seq >= to
      const elsewhere = linesTo(LINES).filter((_, seq) => isElsewhere(seq))

      for (const maxBytes of [100_000, 10_000_000]) {
        const { storage } = openAt(root, OPTIONS)
        // A window has the lines after damage in it, and fails if it has given lines before that.
        const lines = await linesBySeq(storage, { before: LINES, maxBytes }).catch((error: unknown) => {
          expect(error).toMatchObject({ code: "corrupt" })
          return undefined
        })
        if (lines !== undefined) expect([...lines.keys()]).toEqual(elsewhere.slice(from).map((_, n) => to + n))
        if (lines !== undefined) expect([...lines.values()]).toEqual(elsewhere.slice(from))
      }

      for (const maxBytes of [1, 60, 200, 700, 100_000]) {
        const { storage } = openAt(root, OPTIONS)
        const lines = new Map<number, string>()
        for (let before = LINES; before > 0; ) {
          const window = await linesBySeq(storage, { before, maxBytes }).catch(() => new Map<number, string>())
          if (window.size === 0) break
          for (const [seq, line] of window) lines.set(seq, line)
          before = Math.min(...window.keys())
        }
        // Lines of the damaged part may be other ones, so long as their number is right.
        for (const [seq, line] of lines) if (isElsewhere(seq)) expect([seq, line]).toEqual([seq, lineAt(seq)])
        for (let seq = to; seq < LINES; seq++) expect(lines.get(seq)).toBe(lineAt(seq))
        if (lines.size === LINES) expect.fail(`the damage was not found with windows of ${maxBytes} bytes`)
      }

      const { storage } = openAt(root, OPTIONS)
      await expect(linesOf(storage, "a")).rejects.toMatchObject({ code: "corrupt", session: "a" })
      const single: string[] = []
      for (let seq = 0; seq < LINES; seq++) {
        if (isElsewhere(seq)) single.push(...(await linesOf(storage, "a", { from: seq, to: seq + 1 })))
      }
      expect(single).toEqual(elsewhere)
    },
  )
})

test("a part that was found to be damaged can be read after it was put back", async () => {
  const { root, path, whole } = await damaged("a line break in place of another byte", { part: 1, line: "middle" })
  const { storage } = openAt(root, OPTIONS)
  await expect(linesOf(storage, "a")).rejects.toMatchObject({ code: "corrupt" })
  const { mtimeMs } = fs.statSync(path)
  fs.writeFileSync(path, whole)
  fs.utimesSync(path, 1, mtimeMs / 1_000 + 1)
  expect(await linesOf(storage, "a")).toEqual(linesTo(LINES))
})

test("in the last part a line break in place of another byte, and the other way round, is `corrupt`", async () => {
  for (const change of ["a line break in place of another byte", "another byte in place of a line break"]) {
    const { root, from } = await damaged(change, { part: -1, line: "first" })
    for (const range of [{ from: 0 }, { before: LINES, maxBytes: 100_000 }]) {
      const { storage } = openAt(root, OPTIONS)
      await expect(linesOf(storage, "a", range)).rejects.toMatchObject({ code: "corrupt" })
      expect(await linesOf(storage, "a", { from: 0, to: from })).toEqual(linesTo(from))
    }
  }
})

test("the lines that a writer without the lock left after the end of a part are void", async () => {
  const { root, path, whole } = await damaged("a line break in place of another byte", { part: 1, line: "middle" })
  fs.writeFileSync(path, Buffer.concat([whole, Buffer.from("late\nand late\ntorn")]))
  expect(await linesOf(openAt(root, OPTIONS).storage, "a")).toEqual(linesTo(LINES))
  expect(await linesOf(openAt(root, OPTIONS).storage, "a", { before: LINES, maxBytes: 100_000 })).toEqual(
    linesTo(LINES),
  )
})

test.each(["before it is opened", "while it is open"])(
  "of a part that is cut short %s each missing line is `corrupt`, and the lines before them are at their places",
  async (when) => {
    const { root, path, whole, from, to } = await damaged("a line less", { part: 1, line: "middle" })
    fs.writeFileSync(path, whole)
    const kept = whole.indexOf(LF, whole.length >> 1) + 1
    const next = from + whole.subarray(0, kept).toString().split("\n").length - 1
    // In both orders, because the range before has an effect on how the next one is found.
    for (const seqs of [[...Array(to - from).keys()], [...Array(to - from).keys()].reverse()]) {
      fs.writeFileSync(path, whole)
      const { storage } = openAt(root, OPTIONS)
      if (when === "while it is open") expect(await linesOf(storage, "a")).toEqual(linesTo(LINES))
      fs.truncateSync(path, kept)
      for (const seq of seqs.map((index) => from + index)) {
        const reading = linesOf(storage, "a", { from: seq, to: seq + 1 })
        if (seq < next) expect(await reading).toEqual([lineAt(seq)])
        else await expect(reading).rejects.toMatchObject({ code: "corrupt" })
      }
      expect(await linesOf(storage, "a", { before: LINES, maxBytes: 100_000 })).toEqual(linesTo(LINES).slice(to))
      await expect(linesOf(storage, "a", { before: to, maxBytes: 100_000 })).rejects.toMatchObject({ code: "corrupt" })
      await storage[Symbol.asyncDispose]()
    }
  },
)

test("a number that was changed in `metadata.json` or in the index of a part changes no answer", async () => {
  const root = makeRoot()
  const { storage } = openAt(root, OPTIONS)
  await fill(storage, "a", LINES)
  await storage[Symbol.asyncDispose]()
  const folder = join(root, "a")
  for (const name of fs.readdirSync(folder).filter((one) => /metadata\.json$|\.marks$/.test(one))) {
    const path = join(folder, name)
    const whole = fs.readFileSync(path, "utf8")
    for (const { index } of whole.matchAll(/\d/g)) {
      const digit = whole[index] === "1" ? "2" : "1"
      fs.writeFileSync(path, whole.slice(0, index) + digit + whole.slice(index + 1))
      const again = openAt(root, OPTIONS).storage
      const window = { before: LINES, maxBytes: 100_000 }
      const found = [await linesOf(again, "a"), await linesOf(again, "a", window), (await again.head("a"))?.next]
      expect(found, `${name}, byte ${index}`).toEqual([linesTo(LINES), linesTo(LINES), LINES])
      await again[Symbol.asyncDispose]()
    }
    fs.writeFileSync(path, whole)
  }
})

test("numbers of `metadata.json` without their checksum change no answer", async () => {
  const root = makeRoot()
  const { storage } = openAt(root, OPTIONS)
  await fill(storage, "a", LINES)
  await storage[Symbol.asyncDispose]()
  const path = join(root, "a", "metadata.json")
  const { sum, ...metadata } = JSON.parse(fs.readFileSync(path, "utf8")) as { sum: number; next: number }
  expect([sum, metadata.next]).toEqual([expect.any(Number), LINES])
  fs.writeFileSync(path, JSON.stringify({ ...metadata, next: LINES + 1 }))
  const again = openAt(root, OPTIONS).storage
  expect((await again.head("a"))?.next).toBe(LINES)
  for await (const row of again.list()) expect(row).toMatchObject({ id: "a", next: LINES })
  expect(await linesOf(again, "a", { before: LINES, maxBytes: 100_000 })).toEqual(linesTo(LINES))
})

test("verify and export report a part with a line too many, and verify names no line of another part", async () => {
  const root = makeRoot()
  const options = { maxPartBytes: 1_500 }
  const sessions = createSessions({ storage: openAt(root, options).storage })
  const session = await sessions.create({ id: "a" })
  for (let n = 0; n < 30; n++) await session.append({ type: "message", message: { role: "user", content: `say ${n}` } })
  await session.close()
  await sessions.close()
  const [first = "", second = ""] = partsOf(root)
  const bytes = fs.readFileSync(first)
  bytes[bytes.lastIndexOf("say ") + 3] = LF
  fs.writeFileSync(first, bytes)
  const again = createSessions({ storage: openAt(root, options).storage })
  const exporting = async (): Promise<void> => {
    for await (const text of exportSession(again, "a")) expect(text).not.toBe("")
  }
  await expect(exporting()).rejects.toMatchObject({ code: "corrupt" })
  const end = fromOf(second)
  const { damaged: isDamaged, diagnostics } = await verifySession(again, "a")
  expect(isDamaged).toBe(true)
  const skipped = diagnostics.filter(({ code }) => code === "unparsable_line")
  expect(skipped.map(({ seq }) => seq)).toEqual([0])
  expect(skipped[0]?.message).toContain(`Lines 0 to ${end - 1} were skipped`)
})

const OPTIONS = { maxPartBytes: 250 }

async function damaged(
  change: string,
  which: { readonly part: number; readonly line: string },
): Promise<{ root: string; path: string; whole: Buffer; from: number; to: number }> {
  const root = makeRoot()
  const { storage } = openAt(root, OPTIONS)
  await fill(storage, "a", LINES)
  await storage[Symbol.asyncDispose]()
  const parts = partsOf(root)
  expect(parts.length).toBeGreaterThan(3)
  const path = parts.at(which.part) ?? ""
  const whole = fs.readFileSync(path)
  const breaks = [...whole.keys()].filter((at) => whole[at] === LF)
  const at = { first: 0, middle: breaks.length >> 1, last: breaks.length - (change === "a line less" ? 2 : 1) }
  fs.writeFileSync(path, CHANGES[change]?.(whole, breaks[at[which.line as keyof typeof at]] ?? 0) ?? whole)
  const next = parts[parts.indexOf(path) + 1]
  return { root, path, whole, from: fromOf(path), to: next === undefined ? LINES : fromOf(next) }
}

function partsOf(root: string): string[] {
  const names = fs.readdirSync(join(root, "a")).filter((name) => name.endsWith(".jsonl"))
  return names.map((name) => join(root, "a", name)).sort((one, other) => fromOf(one) - fromOf(other))
}

function fromOf(path: string): number {
  return Number(/\.(\d+)\.jsonl$/.exec(path)?.[1] ?? 0)
}

async function linesBySeq(storage: SessionStorage, range: ReadRange): Promise<Map<number, string>> {
  const lines = new Map<number, string>()
  for await (const chunk of storage.read("a", range))
    for (const [index, line] of chunk.lines.entries()) lines.set(chunk.from + index, line)
  return lines
}

function withByte(bytes: Buffer, at: number, byte: number): Buffer {
  return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at + 1)])
}
