/** A root that is copied file by file while agents write, in the order of docs/production.md. */
import { copyFile, mkdir, readdir } from "node:fs/promises"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { verifySession } from "@sessions/core/transfer"
import { expect, onTestFinished, test } from "vitest"
import { createFileStorage } from "../src/index.ts"
import { makeRoot } from "./helpers.ts"

const OF_RUNNING_PROCESSES = new Set([".locks", ".new", ".trash"])

/** `.blobs` come last: a blob is stored before the line that names it. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  const found = (await readdir(from, { withFileTypes: true })).filter(({ name }) => !OF_RUNNING_PROCESSES.has(name))
  found.sort((a, b) => Number(a.name === ".blobs") - Number(b.name === ".blobs"))
  for (const entry of found) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyTree(source, target)
    // Temporary files go while the folder is read.
    else await copyFile(source, target).catch((error: unknown) => expect(error).toMatchObject({ code: "ENOENT" }))
  }
}

test("a copy that takes the sessions before the blobs has each line that was acknowledged before, with its blobs", async () => {
  const root = makeRoot()
  const open = (at: string) => {
    const sessions = createSessions({ storage: createFileStorage({ root: at, maxPartBytes: 3_000 }) })
    onTestFinished(() => sessions.close())
    return sessions
  }
  const original = open(root)
  const ids = ["a", "b", "c"]
  const before = new Map<string, number>()
  const stop = new AbortController()
  const writing = ids.map(async (id, index) => {
    const session = await original.openOrCreate(id)
    for (let n = 0; !stop.signal.aborted && n < 150; n++) {
      const data = Buffer.from(`${id} ${n} `.repeat(200)).toString("base64")
      const image = { type: "image", mimeType: "image/png", data } as const
      await session.append({ type: "message", message: { role: "user", content: n % 3 === index ? [image] : `${n}` } })
      before.set(id, n + 1)
    }
  })
  while (ids.some((id) => (before.get(id) ?? 0) < 5)) await new Promise((resolve) => setImmediate(resolve))
  for (let round = 0; round < 2; round++) {
    const acknowledged = new Map(before)
    const target = makeRoot()
    await copyTree(root, target)
    const copy = open(target)
    for (const id of ids) {
      const session = await copy.open(id)
      expect((await session.info()).messageCount).toBeGreaterThanOrEqual(acknowledged.get(id) as number)
      const { diagnostics } = await verifySession(copy, id)
      expect(diagnostics.filter(({ code }) => code !== "torn_tail")).toEqual([])
    }
  }
  stop.abort()
  await Promise.all(writing)
})
