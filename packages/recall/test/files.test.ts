/** What both kinds of memory files guarantee. */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { CONSOLIDATION_FILES, createDocumentMemory, type MemoryFiles, type MemoryStore } from "../src/index.ts"
import { createFolderMemory } from "../src/node/index.ts"
import { codeOf } from "./helpers.ts"

interface Place extends Disposable {
  /** A new store on the same place for each call, as another process has it. */
  open(): MemoryStore
}

function documents(): Place {
  const storage = createMemoryStorage()
  return { open: () => createDocumentMemory(storage), [Symbol.dispose]: () => undefined }
}

function folder(): Place {
  const path = fs.mkdtempSync(join(tmpdir(), "sessions-recall-"))
  return {
    open: () => createFolderMemory(join(path, "memory")),
    [Symbol.dispose]: () => fs.rmSync(path, { recursive: true }),
  }
}

const places = [
  ["documents", documents],
  ["a folder", folder],
] as const

test.each(places)("%s: files are created, read, replaced and deleted by compare-and-set", async (_, make) => {
  using place = make()
  const files = place.open().of("/a")
  expect(await files.list()).toEqual([])
  expect(await files.read("MEMORY.md")).toBeUndefined()
  const first = await files.write("MEMORY.md", "one\n", { expect: null })
  expect(await place.open().of("/a").read("MEMORY.md")).toEqual({ text: "one\n", version: first })
  const conflict = { code: "conflict" }
  await expect(files.write("MEMORY.md", "two", { expect: null })).rejects.toMatchObject(conflict)
  const second = await files.write("MEMORY.md", "\uFEFFtwo ä 𝄞\r\n", { expect: first })
  await expect(files.write("MEMORY.md", "three", { expect: first })).rejects.toMatchObject(conflict)
  await expect(files.write("new.md", "x", { expect: second })).rejects.toMatchObject(conflict)
  await expect(files.delete("MEMORY.md", { expect: first })).rejects.toMatchObject(conflict)
  expect((await files.read("MEMORY.md"))?.text).toBe("\uFEFFtwo ä 𝄞\r\n")
  await files.write("a.md", "", { expect: null })
  expect(await files.list()).toEqual(["MEMORY.md", "a.md"])
  await files.delete("MEMORY.md", { expect: second })
  await expect(files.delete("MEMORY.md", { expect: second })).rejects.toMatchObject(conflict)
  expect(await files.list()).toEqual(["a.md"])
})

test.each(places)("%s: names are plain, and texts are well formed and of a limited size", async (_, make) => {
  using place = make()
  const files = place.open().of("/a")
  const names = [
    "",
    "a",
    ".md",
    "a.txt",
    "../a.md",
    "a/b.md",
    "/a.md",
    "a\\b.md",
    "a\0.md",
    ".a.md",
    "a.b.md",
    "ä.md",
    `${"a".repeat(30)}.md`,
  ]
  for (const name of names) {
    for (const call of [
      files.read(name),
      files.write(name, "x", { expect: null }),
      files.delete(name, { expect: "v" }),
    ]) {
      expect(await call.catch(codeOf), name).toBe("invalid")
    }
  }
  await files.write(`${"a".repeat(29)}.md`, "x", { expect: null })
  for (const text of ["x".repeat(1_000_001), "\uD800", 1 as unknown as string]) {
    expect(await files.write("a.md", text, { expect: null }).catch(codeOf)).toBe("invalid")
  }
  expect(await files.list()).toHaveLength(1)
})

test.each(places)("%s: the files of consolidation are not listed", async (_, make) => {
  using place = make()
  const files = place.open().of("/a")
  for (const name of Object.values(CONSOLIDATION_FILES)) {
    const version = await files.write(name, "1", { expect: null })
    expect(await files.read(name)).toEqual({ text: "1", version })
  }
  expect(await files.list()).toEqual([])
})

test.each(places)("%s: of 16 writers that add a line at once none loses its line", async (_, make) => {
  using place = make()
  const lines = Array.from({ length: 16 }, (_, i) => `line ${i}`)
  await Promise.all(lines.map((line) => addLine(place.open().of("/a"), line)))
  const text = (await place.open().of("/a").read("MEMORY.md"))?.text ?? ""
  expect(text.trimEnd().split("\n").sort()).toEqual([...lines].sort())
})

test.each(places)("%s: a signal that has fired rejects with `aborted`", async (_, make) => {
  using place = make()
  const files = place.open().of("/a")
  const o = { signal: AbortSignal.abort() }
  for (const call of [files.list(o), files.read("a.md", o), files.write("a.md", "x", { ...o, expect: null })]) {
    expect(await call.catch(codeOf)).toBe("aborted")
  }
})

test("documents: two scopes of one storage share no file", async () => {
  const storage = createMemoryStorage()
  const [a, b] = ["/a", "/b"].map((scope) => createDocumentMemory(storage).of(scope)) as [MemoryFiles, MemoryFiles]
  await a.write("MEMORY.md", "of a", { expect: null })
  expect(await b.read("MEMORY.md")).toBeUndefined()
  expect(await b.list()).toEqual([])
  await b.write("MEMORY.md", "of b", { expect: null })
  expect((await a.read("MEMORY.md"))?.text).toBe("of a")
  const keys: string[] = []
  for await (const key of storage.docs.list()) keys.push(key)
  for (const key of keys) expect(key).toMatch(/^memory\.[0-9a-f]{24}\.MEMORY\.md$/)
  expect(new Set(keys).size).toBe(2)
})

test("a folder: once a scope has written, every call with another scope is `invalid`", async () => {
  using place = folder()
  const a = place.open().of("/a")
  await a.write("MEMORY.md", "of a", { expect: null })
  const b = place.open().of("/b")
  for (const call of [b.list(), b.read("MEMORY.md"), b.write("x.md", "x", { expect: null })]) {
    await expect(call).rejects.toMatchObject({ code: "invalid", message: expect.stringContaining('"/a"') })
  }
  expect(await a.list()).toEqual(["MEMORY.md"])
})

async function addLine(files: MemoryFiles, line: string): Promise<void> {
  for (;;) {
    const file = await files.read("MEMORY.md")
    const error = await files
      .write("MEMORY.md", `${file?.text ?? ""}${line}\n`, { expect: file?.version ?? null })
      .then(() => undefined, codeOf)
    if (error === undefined) return
    expect(error).toBe("conflict")
  }
}
