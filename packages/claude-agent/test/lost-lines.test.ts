/** A transcript whose log is put back to an older state while it is open: what is gone is told once, never passed over. */
import { createSessions } from "@sessions/core"
import { createClaudeStore } from "@sessions/claude-agent"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { expect, test } from "vitest"
import { MAIN, messages, uuid } from "./lines.ts"

/** A store that has appended four messages, of which the log has lost the last two. */
async function putBack() {
  const location: MemoryLocation = createMemoryLocation()
  const store = createClaudeStore({ sessions: createSessions({ storage: createMemoryStorage({ location }) }) })
  await store.append(MAIN, messages(1, 2))
  const [log] = location.logs.values()
  const kept = log?.lines.length ?? 0
  await store.append(MAIN, messages(3, 4))
  log?.lines.splice(kept)
  return store
}

const GONE = { code: "conflict", lost: [{ id: uuid(3) }, { id: uuid(4) }] }

test("`append` rejects with the lines that are gone, and a repeat goes on from the log as it is", async () => {
  const store = await putBack()
  await expect(store.append(MAIN, messages(5, 6))).rejects.toMatchObject(GONE)
  // The SDK may send again what is gone: it is written.
  await store.append(MAIN, messages(3, 6))
  expect(await store.load(MAIN)).toEqual(messages(1, 6))
  await store.close()
})

test("`load` rejects with the lines that are gone, and the next one reads the log as it is", async () => {
  const store = await putBack()
  await expect(store.load(MAIN)).rejects.toMatchObject(GONE)
  expect(await store.load(MAIN)).toEqual(messages(1, 2))
  await store.close()
})
