/** Those of the file scenarios S7.2 to S7.10 that do not depend on files, on a storage in memory. */
import { automaticCompaction, compact } from "../index.ts"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { FILLER, startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { assistant, contextTexts, storedLines, user } from "../../../test/writers.ts"
import { httpStatus } from "../../format/errors.ts"

test("S7.2, S7.6: messages and compactions are appended, and no line that is there changes", async () => {
  const { session, location } = await startCompacting()
  let before = await storedLines(createMemoryStorage({ location }))
  for (let round = 0; round < 3; round++) {
    for (const step of [
      () => session.append([user(FILLER), assistant(FILLER)]),
      () => compact(session, { summarize: async () => SUMMARY, keepRecentTokens: 0 }),
    ]) {
      await step()
      const now = await storedLines(createMemoryStorage({ location }))
      expect(now.length).toBeGreaterThan(before.length)
      expect(now.slice(0, before.length)).toEqual(before)
      before = now
    }
  }
})

test("S7.3: loading reconstructs the conversation with its compaction over it", async () => {
  const { session, reopen } = await startCompacting()
  await session.append([user(FILLER), assistant(FILLER), user("go on"), assistant("done")])
  await compact(session, { summarize: async () => SUMMARY, keepRecentTokens: 2 })
  const loaded = await reopen()
  expect((await contextTexts(loaded)).slice(1)).toEqual(["go on", "done"])
  expect((await loaded.context()).messages).toEqual((await session.context()).messages)
  expect((await loaded.messages()).messages).toHaveLength(4)
})

test("S7.4, S7.5: metadata follow the messages, and the list their time; a rename does not move a session", async () => {
  const { sessions } = await startCompacting()
  for (const [id, minute] of [
    ["old", "01"],
    ["new", "02"],
  ] as const) {
    const timestamp = `2025-01-01T00:${minute}:00.000Z`
    const session = await sessions.create({ id })
    await session.append({ ...user("hi"), timestamp })
    expect(await sessions.info(id)).toMatchObject({ messageCount: 1, lastMessageAt: timestamp })
  }
  await sessions.rename("old", "Renamed")
  const ids = (await sessions.list()).sessions.map(({ id }) => id)
  expect(ids.filter((id) => id !== "s")).toEqual(["new", "old"])
})

test("S7.7: sessions that a schedule started carry source and cronJobId", async () => {
  const { sessions } = await startCompacting()
  await sessions.create({ id: "c", source: "cron", cronJobId: "nightly" })
  const told = { id: "c", source: "cron", cronJobId: "nightly" }
  expect((await sessions.list({ source: "cron" })).sessions).toMatchObject([told])
})

test("S7.8: an invalid id is refused with a code that a server answers with 400", async () => {
  const { sessions } = await startCompacting()
  for (const id of ["", "..", "../x", "a/b", "a\0b"]) {
    const error: unknown = await sessions.create({ id }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: "invalid" })
    expect(httpStatus(error)).toBe(400)
  }
})

test("S7.10: concurrent sends to one session queue and never interleave, also with a compaction between them", async () => {
  const { session, sessions, reopen } = await startCompacting({
    compaction: automaticCompaction({ summarize: async () => SUMMARY, thresholdTokens: 5_000, keepTurns: 1 }),
  })
  const other = await sessions.open("s")
  const send = (n: number): Promise<void> =>
    (n % 2 === 0 ? session : other).turn(async (turn) => {
      await turn.append(user(`ask ${n} ${FILLER}`))
      await turn.append(assistant(`answer ${n} ${FILLER}`))
    })
  await Promise.all(Array.from({ length: 10 }, (_, n) => send(n)))
  const { messages } = await (await reopen()).messages({ limit: 100 })
  const texts = messages.map(({ message }) => JSON.stringify(message.content))
  const said = texts.map((text) => /(?:ask|answer) \d/.exec(text)?.[0])
  expect(said).toEqual(Array.from({ length: 10 }, (_, n) => [`ask ${n}`, `answer ${n}`]).flat())
  expect((await session.context()).compaction).toBeDefined()
})
