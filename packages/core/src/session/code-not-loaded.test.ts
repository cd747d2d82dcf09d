import { createMemoryStorage } from "@sessions/memory"
import { expect, test, vi } from "vitest"
import { assistant, codeOf, user } from "../../test/writers.ts"
import { automaticCompaction, compact } from "../compaction/index.ts"
import { StorageError } from "../storage/errors.ts"
import { createSessions } from "./repository.ts"

vi.mock("./features/load.ts", () => {
  const missing = async (): Promise<never> => {
    throw new StorageError("unavailable", "It is not there.")
  }
  return { contextFeature: missing, seldomFeature: missing }
})

test("creating, opening, appending, reading, listing, and contexts of messages as they are stored, load no code", async () => {
  const storage = createMemoryStorage()
  const sessions = createSessions({ storage, blobs: { imageChars: 4 } })
  const session = await sessions.create({ id: "s" })
  const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const
  await session.turn(async () => {
    await session.append([
      user("hello"),
      { type: "message", message: { role: "user", content: [image] } },
      assistant("an image"),
    ])
  })
  expect((await session.path()).entries).toHaveLength(3)
  const { messages } = await session.context()
  expect(messages.map(({ message }) => message.content)).toMatchObject([
    [{ text: "hello" }],
    [image],
    [{ type: "text" }],
  ])
  await session.close()
  const again = await sessions.open("s")
  expect((await again.messages()).messages).toHaveLength(3)
  expect((await again.context()).messages).toEqual(messages)
  expect((await sessions.list()).sessions).toHaveLength(1)
})

test("a compaction by hand and one between turns load no code", async () => {
  const compaction = automaticCompaction({
    summarize: async () => "a summary",
    keepRecentTokens: 0,
    thresholdTokens: 50,
  })
  const session = await createSessions({ storage: createMemoryStorage(), compaction }).create()
  const told: string[] = []
  session.on("compact_complete", ({ entryId }) => told.push(entryId))
  await session.append([user("question ".repeat(50)), assistant("answer ".repeat(50))])
  await compact(session)
  await session.turn((turn) => turn.append([user("question ".repeat(50)), assistant("answer ".repeat(50))]))
  expect(told).toHaveLength(2)
  expect((await session.context()).messages[0]?.entryId).toBe(told[1])
})

test("all pages of a list are read without the code that makes many of them cheap", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  for (let n = 0; n < 30; n++) await sessions.create()
  const ids = new Set<string>()
  let cursor: string | undefined
  do {
    const page = await sessions.list({ limit: 4, ...(cursor === undefined ? {} : { cursor }) })
    for (const { id } of page.sessions) ids.add(id)
    cursor = page.next
  } while (cursor !== undefined)
  expect(ids.size).toBe(30)
})

test.each([
  ["converted", { type: "message", message: { role: "bashExecution", command: "ls", output: "a", exitCode: 0 } }],
  [
    "repaired",
    {
      type: "message",
      message: { role: "assistant", content: [{ type: "toolCall", id: "c", name: "x", arguments: {} }] },
    },
  ],
] as const)(
  "a context whose messages must be %s is unavailable without the code for it, and the log is as it was",
  async (_, entry) => {
    const session = await createSessions({ storage: createMemoryStorage() }).create({ id: "s" })
    await session.append([user("go"), entry])
    expect(await codeOf(session.context())).toBe("unavailable")
    expect((await session.messages()).messages).toHaveLength(2)
  },
)
