/** A chat whose log is put back to an older state while it is open, and one in a turn that has lost its lease: told once, never passed over. */
import { createSessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import type { UIMessage } from "ai"
import { expect, test } from "vitest"
import { createChatStore, openChatLog } from "../src/index.ts"
import { user } from "./model.ts"

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
