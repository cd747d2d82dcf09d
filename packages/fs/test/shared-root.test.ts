/** A root that other users may write is refused, unless it is sticky or the option allows it. */
import * as fs from "node:fs"
import { join } from "node:path"
import type { SessionStorage } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { createFileStorage } from "../src/index.ts"
import { chunked, fill, filesBelow, linesOf, makeRoot, openAt } from "./helpers.ts"

const HEAD = { next: 1, log: "x" }
const calls: Readonly<Record<string, (storage: SessionStorage) => unknown>> = {
  append: (storage) => storage.append("a", ["x"], { expect: 0 }),
  head: (storage) => storage.head("a"),
  read: (storage) => linesOf(storage, "a"),
  list: (storage) => all(storage.list()),
  delete: (storage) => storage.delete("a"),
  sync: (storage) => storage.sync?.("a"),
  replace: (storage) => storage.replace?.("a", chunked(["x"]), { expect: HEAD }),
  "docs.get": ({ docs }) => docs.get("pointers"),
  "docs.put": ({ docs }) => docs.put("pointers", "x", { expect: null }),
  "docs.list": ({ docs }) => all(docs.list()),
  "blobs.put": ({ blobs }) => blobs.put(new Uint8Array([1])),
  "blobs.get": ({ blobs }) => blobs.get("0".repeat(64)),
  "blobs.has": ({ blobs }) => blobs.has("0".repeat(64)),
  "blobs.list": ({ blobs }) => all(blobs.list()),
}

for (const [name, call] of Object.entries(calls)) {
  test.skipIf(process.platform === "win32")(
    `${name} rejects for a root that others may write, says what to do, and changes nothing`,
    async () => {
      for (const mode of [0o777, 0o775, 0o702]) {
        const root = makeRoot()
        fs.chmodSync(root, mode)
        const { storage } = openAt(root)
        for (let again = 0; again < 2; again++) {
          await expect((async () => call(storage))()).rejects.toMatchObject({
            code: "misconfigured",
            message: expect.stringMatching(/chmod go-w .*allowSharedRoot: true/) as string,
          })
        }
        expect(fs.readdirSync(root)).toEqual([])
        fs.chmodSync(root, 0o755)
        await fill(storage, "a", 1)
      }
    },
  )
}

test.skipIf(process.platform === "win32")(
  "a root that is a link is judged by the folder that it leads to",
  async () => {
    const root = makeRoot()
    const link = join(makeRoot(), "link")
    fs.symlinkSync(root, link)
    await fill(openAt(link).storage, "a", 1)
    fs.chmodSync(root, 0o777)
    await expect(openAt(link).storage.head("a")).rejects.toMatchObject({ code: "misconfigured" })
  },
)

test("a root with a character that no path has is `invalid`", () => {
  expect(() => createFileStorage({ root: "a\0b" })).toThrow(expect.objectContaining({ code: "invalid" }))
})

test("a root that others may write is used if it is sticky, or if the option allows it", async () => {
  for (const [mode, allowSharedRoot] of [
    [0o1777, false],
    [0o777, true],
    [0o755, false],
  ] as const) {
    const root = makeRoot()
    fs.chmodSync(root, mode)
    const { storage } = openAt(root, { allowSharedRoot })
    await fill(storage, "a", 1)
    expect(filesBelow(root)).toContain(join("a", "session.jsonl"))
  }
})

test.skipIf(process.platform === "win32")(
  "a root that is made later by others is checked as soon as it exists",
  async () => {
    const root = join(makeRoot(), "root")
    const { storage } = openAt(root)
    expect(await storage.head("a")).toBeUndefined()
    fs.mkdirSync(root)
    fs.chmodSync(root, 0o777)
    await expect(storage.append("a", ["x"], { expect: 0 })).rejects.toMatchObject({ code: "misconfigured" })
  },
)

test("`allowSharedRoot` is true or false", () => {
  const wrong = { root: "x", allowSharedRoot: "yes" } as unknown as { root: string }
  expect(() => createFileStorage(wrong)).toThrow(expect.objectContaining({ code: "invalid" }))
})

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
