import { createMemoryStorage } from "@sessions/memory"
import { expect, test, vi } from "vitest"
import { assistant, codeOf, user } from "../../test/writers.ts"
import { StorageError } from "../storage/errors.ts"
import { createSessions } from "./repository.ts"

vi.mock("./features.ts", () => {
  const missing = async (): Promise<never> => {
    throw new StorageError("unavailable", "It is not there.")
  }
  return { compactionFeature: missing, transferFeature: missing }
})

test("creating, opening, appending, reading, listing, and contexts that need no repair, load no code", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const session = await sessions.create({ id: "s" })
  const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const
  const bash = { role: "bashExecution", command: "ls", output: "a", exitCode: 0 } as const
  await session.turn(async () => {
    await session.append([
      user("hello"),
      { type: "message", message: { role: "user", content: [image] } },
      assistant("an image"),
      { type: "message", message: bash },
      { type: "custom_message", customType: "note", display: true, content: [{ type: "text", text: "noted" }] },
    ])
  })
  expect((await session.messages()).messages).toHaveLength(4)
  expect((await session.path()).entries).toHaveLength(5)
  expect((await session.context()).messages.map(({ message }) => message.role)).toEqual([
    "user",
    "user",
    "assistant",
    "user",
    "user",
  ])
  await session.close()
  const again = await sessions.open("s")
  expect((await again.context()).messages).toHaveLength(5)
  expect((await sessions.list()).sessions).toHaveLength(1)
})

test("a context that providers would refuse is unavailable without the code for its repair; unrepaired it is there", async () => {
  const session = await createSessions({ storage: createMemoryStorage() }).create({ id: "s" })
  const call = { type: "toolCall", id: "c", name: "read", arguments: {} } as const
  await session.append([user("go"), { type: "message", message: { role: "assistant", content: [call] } }])
  expect(await codeOf(session.context())).toBe("unavailable")
  expect((await session.context({ repair: "none" })).messages).toHaveLength(2)
})
