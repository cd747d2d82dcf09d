/** Sessions in the versions of other agents, read in place. */
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { CONTEXT_MESSAGES, firstVersionLines } from "../../test/first-version.ts"
import { titleSlotLines } from "../../test/older-logs.ts"
import { sessionsReading, STORED_ID, storeLines } from "../../test/stored.ts"
import { whyRefused } from "../../test/sendable.ts"
import { linesIn, textOf } from "../../test/transfer.ts"
import { user } from "../../test/writers.ts"
import {
  copySession,
  exportSession,
  forkSession,
  mergeSession,
  migrateSession,
  verifySession,
} from "../transfer/index.ts"
import { piLogs } from "../transfer/migrate/index.ts"
import { createSessions } from "./repository.ts"

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
  await migrateSession(sessions, STORED_ID)
  const again = sessionsReading(sessions.storage, 1)
  expect(await (await again.open(STORED_ID)).context({ repair: "none" })).toEqual(before)
})

test("a log that ends in a reset boundary has an empty context", async () => {
  const session = await sessionsReading(await storeLines(titleSlotLines()), 1).open(STORED_ID)
  expect((await session.context()).messages).toEqual([])
  expect((await session.messages()).messages.length).toBeGreaterThan(0)
})

test("without its reader a log of an older version is `older_version`, which names the import; nothing is written, and other calls go on", async () => {
  const lines = firstVersionLines()
  const storage = await storeLines(lines)
  const sessions = createSessions({ storage })
  await (await sessions.create({ id: "ours" })).append(user("hello"))
  const error = expect.objectContaining({
    code: "older_version",
    session: STORED_ID,
    message: expect.stringMatching(/import \{ piLogs \} from "@sessions\/core\/migrations".*readers: \[piLogs\]/),
  })
  const calls = [() => sessions.open(STORED_ID), () => sessions.openOrCreate(STORED_ID), () => sessions.info(STORED_ID)]
  for (const call of [...calls, () => forkSession(sessions, STORED_ID)]) await expect(call()).rejects.toEqual(error)
  const { sessions: listed, unreadable } = await sessions.list()
  expect(listed.map(({ id }) => id)).toEqual(["ours"])
  expect(unreadable).toEqual([{ id: STORED_ID, error }])
  expect(await linesIn(storage, STORED_ID)).toEqual(lines)
})

test("the calls of transfer read a log of an older version without a reader", async () => {
  const storage = await storeLines(titleSlotLines())
  const sessions = createSessions({ storage })
  expect(await verifySession(sessions, STORED_ID)).toMatchObject({ damaged: false })
  expect(await textOf(exportSession(sessions, STORED_ID, { format: "markdown" }))).toContain("Letters")
  const to = createMemoryStorage()
  await copySession(sessions, STORED_ID, to)
  expect(await mergeSession(sessions, STORED_ID, to)).toMatchObject({ differing: [] })
  expect((await sessions.info(STORED_ID)).title).toBe("Letters")
})

test("a log of an older version is opened by the first reader that reads it", async () => {
  const other = { ...piLogs, reads: () => false } as typeof piLogs
  const sessions = createSessions({ storage: await storeLines(titleSlotLines()), readers: [other, piLogs] })
  expect((await sessions.open(STORED_ID)).header.origin).toMatchObject({ format: "oh-my-pi" })
  expect(piLogs.formats).toEqual(["pi", "oh-my-pi"])
})
