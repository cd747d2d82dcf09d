import { createSessions } from "@sessions/core"
import { createMemoryHistory, recordPrompts } from "@sessions/history"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { prompts } from "./cases.ts"

const user = (content: string, fields: object = {}) =>
  ({ type: "message", message: { role: "user", content, ...fields } }) as const

test("the user messages of a session are recorded with its folder; synthetic ones, summaries and others are not", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const session = await sessions.create({ cwd: "/project" })
  const history = createMemoryHistory()
  await session.append(user("before"))
  recordPrompts(session, history)
  await session.append([
    user("one"),
    user("made by the program", { synthetic: true }),
    user("a summary", { summary: true }),
    { type: "message", message: { role: "assistant", content: "an answer" } },
    { type: "message", message: { role: "system", content: "a rule" } },
    { type: "custom", customType: "note", data: "a note" },
  ])
  await session.append({
    type: "message",
    message: {
      role: "user",
      content: [
        { type: "text", text: "look at" },
        { type: "image", data: "AAAA", mimeType: "image/png" },
        { type: "text", text: "this" },
      ],
    },
  })
  expect(await history.recent()).toMatchObject([
    { prompt: "look at\nthis", cwd: "/project" },
    { prompt: "one", cwd: "/project" },
  ])
  await sessions.close()
})

test("recording ends with the returned function and with the session", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const history = createMemoryHistory()
  const first = await sessions.create()
  const stop = recordPrompts(first, history)
  await first.append(user("one"))
  stop()
  await first.append(user("two"))
  const second = await sessions.open(first.id)
  recordPrompts(second, history)
  await first.append(user("three"))
  await second.close()
  await first.append(user("four"))
  expect(await prompts(history.recent())).toEqual(["three", "one"])
  expect(await history.recent({ cwd: "/project" })).toEqual([])
  await sessions.close()
})

test("a history that fails does not fail the append", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const session = await sessions.create()
  const history = createMemoryHistory({
    redact() {
      throw new Error("cannot")
    },
  })
  recordPrompts(session, history)
  await session.append(user("one"))
  await expect(history.flush()).rejects.toThrow("cannot")
  await history.close()
  await session.append(user("two"))
  expect((await session.info()).messageCount).toBe(2)
  await sessions.close()
})
