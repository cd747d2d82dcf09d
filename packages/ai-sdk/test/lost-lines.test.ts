/** A chat whose log is put back to an older state while it is open, and one in a turn that has lost its lease: told once, never passed over. */
import { createSessions, type SessionError } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import type { UIMessage } from "ai"
import { expect, test, vi } from "vitest"
import { createChatStore, openChatLog } from "../src/index.ts"
import { readStream } from "../src/streams/log.ts"
import { user } from "./model.ts"
import { chunks, createSource, createStreams, messages as asked } from "./pages.ts"

test("a call on a chat whose log was put back rejects with what is gone, and the next one goes on from the log as it is", async () => {
  const location = createMemoryLocation()
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const store = createChatStore<UIMessage>(sessions)
  const messages = [user("1", "one"), user("2", "two"), user("3", "three")]
  const log = await openChatLog(sessions, "c")
  await store.saveChat({ chatId: "c", messages: messages.slice(0, 1) })
  const lines = location.logs.get("c")?.lines ?? []
  const kept = lines.length
  await store.saveChat({ chatId: "c", messages: messages.slice(0, 2) })
  lines.length = kept
  await expect(store.addMessage({ id: "c", message: messages[2] as UIMessage })).rejects.toMatchObject({
    code: "conflict",
    lost: [{ type: "message", message: { content: [{ type: "text", text: "two" }] } }],
  })
  const added = await store.addMessage({ id: "c", message: messages[2] as UIMessage })
  expect(added.map(({ id }) => id)).toEqual(["1", "3"])
  await log.close()
})

test("a stream whose log was put back is not written further, with a gap, also if another handle has met the loss", async () => {
  const location = createMemoryLocation()
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const errors: SessionError[] = []
  const onError = (error: unknown): void => void errors.push(error as SessionError)
  const run = await createStreams(sessions, { batchMs: 1, onError }).start({ chatId: "c", messages: asked })
  const source = createSource()
  const ended = run.consumeSseStream({ stream: source.stream })
  const log = await sessions.open(run.streamId)
  const count = async (): Promise<number> => (await readStream(log)).chunks.length
  source.push(...chunks.slice(0, 2))
  await vi.waitFor(async () => expect(await count()).toBe(2))
  const lines = location.logs.get(run.streamId)?.lines ?? []
  const kept = lines.length
  source.push(...chunks.slice(2, 4))
  await vi.waitFor(async () => expect(await count()).toBe(4))
  lines.length = kept
  await expect(log.refresh()).rejects.toMatchObject({ code: "conflict", lost: [{ type: "custom" }] })
  source.push(...chunks.slice(4))
  source.end()
  await ended
  expect([await count(), errors]).toMatchObject([2, [{ code: "conflict", lost: [{ type: "custom" }] }]])
  await log.close()
})
