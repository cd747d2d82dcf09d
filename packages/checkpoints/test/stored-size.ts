/** How much is stored of many files. */
import type { SessionStorage } from "@sessions/core/storage"
import { createSessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createCheckpoints } from "../src/index.ts"
import { createMemoryFiles } from "./memory-files.ts"

export const FILES = Array.from(
  { length: 10_000 },
  (_, i) => `packages/some-package/src/folder-${i % 100}/file-${i}.ts`,
)

const thousands = (count: number): string => count.toLocaleString("en")

export function storedSizeTest(count: number, turns: number, mb: number): void {
  test(`${thousands(count)} files and ${turns} turns with 5 edits each take less than ${mb} MB of documents, and a first edit puts less than 50 KB`, async () => {
    const files = FILES.slice(0, count)
    const location = createMemoryLocation()
    let put = 0
    const storage = counting(createMemoryStorage({ location }), (text) => (put += text.length))
    const sessions = createSessions({ storage })
    const session = await sessions.create()
    const memory = createMemoryFiles()
    const checkpoints = createCheckpoints({ storage, files: memory }).of(session)
    const begin = async (): Promise<string> => {
      const { ids } = await session.append({ type: "message", message: { role: "user", content: "edit" } })
      await checkpoints.begin(ids[0] as string)
      return ids[0] as string
    }
    for (const path of files) memory.set(path, path)
    const first = await begin()
    // Each awaited, so that no two share a put. The size of a put does not depend on the number of files, so a part of them suffices.
    const part = files.slice(0, 2_000)
    for (const path of part) await checkpoints.track(path)
    expect(put / part.length).toBeLessThan(50_000)
    await Promise.all(files.map((path) => checkpoints.track(path)))
    for (const path of files) memory.set(path, `edited ${path}`)
    for (let turn = 1; turn < turns; turn++) {
      await begin()
      for (let edit = 0; edit < 5; edit++) memory.set(files[turn * 5 + edit] as string, `turn ${turn}`)
    }
    const kept = await checkpoints.list()
    expect(kept).toHaveLength(turns)
    let bytes = 0
    for (const [key, text] of location.docs) if (key.includes("/checkpoint.")) bytes += text.length
    expect(bytes).toBeLessThan(mb * 1_000_000)
    expect((await checkpoints.rewind(first)).restored).toHaveLength(files.length)
  })
}

export function counting(storage: SessionStorage, onPut: (text: string) => unknown): SessionStorage {
  const put: SessionStorage["docs"]["put"] = (key, text, o) => {
    if (key.includes("/checkpoint.")) onPut(text)
    return storage.docs.put(key, text, o)
  }
  return { ...storage, docs: { ...storage.docs, put } }
}
