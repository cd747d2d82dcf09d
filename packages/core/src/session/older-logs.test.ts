/** Sessions in the versions of other agents, read in place. */
import { expect, test } from "vitest"
import { CONTEXT_MESSAGES, firstVersionLines } from "../../test/first-version.ts"
import { titleSlotLines } from "../../test/older-logs.ts"
import { sessionsReading, STORED_ID, storeLines } from "../../test/stored.ts"
import { whyRefused } from "../../test/sendable.ts"

test("a log of version 1 has the messages that its own agent shows, each with an existing entry", async () => {
  const sessions = sessionsReading(await storeLines(firstVersionLines()), 1)
  const session = await sessions.open(STORED_ID)
  const { messages, model } = await session.context({ repair: "none" })
  expect(messages).toHaveLength(CONTEXT_MESSAGES)
  const ids = new Set<string>()
  for await (const { id } of session.entries()) ids.add(id)
  expect(messages.filter(({ entryId }) => !ids.has(entryId))).toEqual([])
  expect(model).toEqual({ provider: "anthropic", model: "claude-opus-4-5" })
  expect(whyRefused((await session.context()).messages)).toBeUndefined()
})

test("its context is the same after a migration in place, read line by line", async () => {
  const sessions = sessionsReading(await storeLines(firstVersionLines()), 1)
  const before = await (await sessions.open(STORED_ID)).context({ repair: "none" })
  await sessions.migrate(STORED_ID)
  const again = sessionsReading(sessions.storage, 1)
  expect(await (await again.open(STORED_ID)).context({ repair: "none" })).toEqual(before)
})

test("a log that ends in a reset boundary has an empty context", async () => {
  const session = await sessionsReading(await storeLines(titleSlotLines()), 1).open(STORED_ID)
  expect((await session.context()).messages).toEqual([])
  expect((await session.messages()).messages.length).toBeGreaterThan(0)
})
