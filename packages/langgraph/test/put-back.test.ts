/** Threads whose log was put back to an older state while a saver goes on. */
import { createSessions } from "@sessions/core"
import { SessionsSaver } from "@sessions/langgraph"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { expect, onTestFinished, test } from "vitest"
import { sessionOf } from "../src/thread-id.ts"
import { put, startOf, valuesOf } from "./threads.ts"

function saverOn(location: MemoryLocation): SessionsSaver {
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const saver = new SessionsSaver({ sessions })
  onTestFinished(async () => {
    await saver.close()
    await sessions.close()
  })
  return saver
}

/** Returns a function that puts the present log back in its place. */
async function backup(location: MemoryLocation): Promise<() => void> {
  const id = await sessionOf("t")
  const log = location.logs.get(id)
  if (log === undefined) throw new Error("There is no log.")
  const lines = [...log.lines]
  return () => void location.logs.set(id, { ...log, lines: [...lines] })
}

const kept = "kept ".repeat(2_000)

test("after the refusal a checkpoint whose parent is gone is stored whole", async () => {
  const location = createMemoryLocation()
  const saver = saverOn(location)
  const root = await put(saver, startOf("t"), { topic: "root", kept })
  const restore = await backup(location)
  const lost = await put(saver, root, { topic: "lost", kept }, { version: 2, changed: ["topic"] })
  restore()
  await expect(saver.putWrites(lost, [["topic", "write"]], "task")).rejects.toMatchObject({
    code: "conflict",
    lost: [{ type: "custom" }],
  })
  const next = await put(saver, lost, { topic: "next", kept }, { version: 3, changed: ["topic"] })
  expect(await valuesOf(saverOn(location), next)).toEqual({ topic: "next", kept })
})

test("a checkpoint gets nothing of one that another saver has put in the place of its parent", async () => {
  const location = createMemoryLocation()
  const saver = saverOn(location)
  const root = await put(saver, startOf("t"), { topic: "root", kept })
  const restore = await backup(location)
  const lost = await put(saver, root, { topic: "lost", kept }, { version: 2, changed: ["topic"] })
  await saver.close()
  restore()
  await put(saverOn(location), root, { topic: "other", kept: "other" }, { version: 2 })
  const next = await put(saver, lost, { topic: "next", kept }, { version: 3, changed: ["topic"] })
  expect(await valuesOf(saverOn(location), next)).toEqual({ topic: "next", kept })
})
