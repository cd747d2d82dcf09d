import { createSessions } from "@sessions/core"
import { StorageError } from "@sessions/core/storage"
import { createMemoryStorage } from "@sessions/memory"
import type { UIMessage } from "ai"
import { expect, test, vi } from "vitest"
import { createChatStore } from "../src/index.ts"
import { user } from "./model.ts"

vi.mock("../../core/src/session/features/load.ts", () => {
  const missing = async (): Promise<never> => {
    throw new StorageError("unavailable", "It is not there.")
  }
  return { contextFeature: missing, seldomFeature: missing }
})

test("a page that is offline saves questions, answers and calls, in turn and again", async () => {
  const store = createChatStore<UIMessage>(createSessions({ storage: createMemoryStorage() }))
  const call: UIMessage = {
    id: "a",
    role: "assistant",
    parts: [{ type: "tool-look", toolCallId: "c", state: "input-available", input: {} }],
  }
  const messages = [user("u1", "a question"), call]
  await store.saveChat({ chatId: "c", messages: messages.slice(0, 1) })
  await store.saveChat({ chatId: "c", messages })
  await store.saveChat({ chatId: "c", messages })
  expect(await store.loadChat("c")).toEqual(messages)
})
