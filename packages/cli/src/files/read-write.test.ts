/** Files outside the store, which other programs may read at any moment. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { makeFolder, openFile, writeNewFile } from "./read-write.ts"

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sessions-files-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test("a written file has its name only when it is complete, and nothing else is left beside it", async () => {
  const seen: (readonly string[])[] = []
  const pieces = async function* () {
    yield "one "
    seen.push(readdirSync(folder))
    yield new TextEncoder().encode("two")
    expect(existsSync(join(folder, "s.jsonl"))).toBe(false)
  }
  expect(await writeNewFile("s.jsonl", folder, pieces())).toBe(7)
  expect(seen).toEqual([[expect.stringMatching(/^\.sessions-.*\.tmp$/)]])
  expect(readdirSync(folder)).toEqual(["s.jsonl"])
  expect(readFileSync(join(folder, "s.jsonl"), "utf8")).toBe("one two")
})

test("a write that fails leaves nothing, and a file that exists before or since then is not overwritten", async () => {
  const failing = async function* () {
    yield "half"
    throw new Error("no more")
  }
  await expect(writeNewFile("s.jsonl", folder, failing())).rejects.toThrow("no more")
  expect(readdirSync(folder)).toEqual([])
  const late = async function* () {
    yield "ours"
    writeFileSync(join(folder, "s.jsonl"), "theirs")
  }
  await expect(writeNewFile("s.jsonl", folder, late())).rejects.toThrow("it already exists")
  const never = async function* () {
    expect.unreachable("the file exists")
    yield ""
  }
  await expect(writeNewFile("s.jsonl", folder, never())).rejects.toThrow("it already exists")
  expect(readdirSync(folder)).toEqual(["s.jsonl"])
  expect(readFileSync(join(folder, "s.jsonl"), "utf8")).toBe("theirs")
})

test("folders are made with those above them", async () => {
  expect(await makeFolder(join("a", "b", "c"), folder)).toBe(join(folder, "a"))
  expect(await makeFolder(join("a", "b"), folder)).toBeUndefined()
  expect(existsSync(join(folder, "a", "b", "c"))).toBe(true)
})

test("other work has its turn while a large file is read", async () => {
  writeFileSync(join(folder, "large"), new Uint8Array(20_000_000))
  const source = await openFile("large", folder)
  if (typeof source !== "function") throw new Error("A file can be read again.")
  let turns = 0
  let isReading = true
  const count = (): void => {
    turns++
    if (isReading) setImmediate(count)
  }
  setImmediate(count)
  let bytes = 0
  for await (const piece of source()) bytes += piece.length
  isReading = false
  expect(bytes).toBe(20_000_000)
  expect(turns).toBeGreaterThan(1)
})
