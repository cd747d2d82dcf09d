/** A wrong call is refused when it is made, not when a run has ended. */
import { createSessions, type Sessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { readUIMessageStream, type UIMessage } from "ai"
import { expect, test } from "vitest"
import { createChatStore, createChatStreams, type PersistOptions } from "../src/index.ts"

const sessions = createSessions({ storage: createMemoryStorage() })
const wrong = [{ sessions }, sessions.storage, undefined] as readonly unknown[] as readonly Sessions[]

test.each(wrong)("%# in place of a repository is refused at once", (given) => {
  const message = (name: string): string =>
    `${name} takes a repository that createSessions() has made, as ${name}(sessions).`
  expect(() => createChatStore(given)).toThrow(message("createChatStore"))
  expect(() => createChatStreams<UIMessage>(given, { readUIMessageStream })).toThrow(message("createChatStreams"))
})

test("`persist` without the id of its chat is refused before the run", () => {
  const options = { id: "chat-1", messages: [] } as unknown as PersistOptions<never>
  expect(() => createChatStore(sessions).persist(options)).toThrow("persist needs the `chatId` of the chat")
})
