/** `creation` of the header: which logs under one id are one session, also if they have one time. */
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf, linesIn, sessionsIn, smallBatches, textOf } from "../../test/transfer.ts"
import { user } from "../../test/writers.ts"
import type { Header } from "../format/header.ts"
import type { Importer } from "./types.ts"
import type { Sessions } from "../session/repository-types.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { copySession, exportSession, forkSession, importSession, mergeSession } from "./index.ts"

const SAME_TIME = { now: () => Date.UTC(2026, 1, 1) }

/** Repositories on two storages whose clocks show one time. */
const twoPlaces = (): [Sessions, Sessions] => [sessionsIn(undefined, SAME_TIME), sessionsIn(undefined, SAME_TIME)]

async function headerIn(storage: SessionStorage, id = "s"): Promise<Header> {
  return JSON.parse((await linesIn(storage, id))[0] as string) as Header
}

test("sessions of one id that were created apart at one time are not merged, and neither is changed", async () => {
  const make = async (sessions: Sessions, text: string): Promise<string[]> => {
    const session = await sessions.openOrCreate("s")
    await session.append(user(text))
    await session.close()
    return linesIn(sessions.storage, "s")
  }
  const [here, there] = twoPlaces()
  const before = [await make(here, "one"), await make(there, "two")]
  expect(await codeOf(mergeSession(here, "s", there.storage))).toBe("exists")
  expect(await codeOf(mergeSession(there, "s", here.storage))).toBe("exists")
  expect([await linesIn(here.storage, "s"), await linesIn(there.storage, "s")]).toEqual(before)
})

test("an interrupted copy is not completed with the lines of a session that was created apart", async () => {
  const entries = [user("x".repeat(600), "a"), user("y".repeat(600), "b")]
  const [here, there] = twoPlaces()
  await here.create({ id: "s", entries })
  await there.create({ id: "s", entries })
  const [header, first] = await linesIn(here.storage, "s")
  const target = smallBatches()
  await target.append("s", [header as string, first as string], { expect: 0 })
  const before = await linesIn(target, "s")
  expect(await codeOf(copySession(there, "s", target))).toBe("exists")
  expect(await linesIn(target, "s")).toEqual(before)
  expect(await copySession(here, "s", target)).toMatchObject({ lines: 3 })
})

test("copies, merges, exports and imports of a log keep its creation, and a fork has its own", async () => {
  const [here, there] = twoPlaces()
  await here.create({ id: "s", entries: [user("hi".repeat(150))] })
  const { creation } = await headerIn(here.storage)
  expect(creation).toMatch(/^[0-9A-Z]{26}$/)
  await mergeSession(here, "s", there.storage)
  const copied = createMemoryStorage()
  await copySession(here, "s", copied)
  const imported = sessionsIn(smallBatches(600))
  await importSession(imported, await textOf(exportSession(here, "s")), { id: "s" })
  for (const storage of [there.storage, copied, imported.storage])
    expect((await headerIn(storage)).creation).toBe(creation)
  expect(await mergeSession(here, "s", imported.storage)).toMatchObject({ sent: 0, received: 0 })
  await forkSession(here, "s", { id: "f" })
  await forkSession(there, "s", { id: "f" })
  const forks = [await headerIn(here.storage, "f"), await headerIn(there.storage, "f")].map((fork) => fork.creation)
  expect(new Set([creation, ...forks]).size).toBe(3)
  expect(await codeOf(mergeSession(here, "f", there.storage))).toBe("exists")
})

test("a file of another program that is imported twice is one session, and two files under one id are not", async () => {
  const chat = (at: string): Importer => ({
    format: "chat",
    identify: () => true,
    async *read({ main }) {
      let name = ""
      for await (const text of main) name += text
      const origin = { format: "chat", version: 1, ...(name === "" ? {} : { id: name }) }
      yield { type: "session", format: "@sessions", version: 4, id: "any", timestamp: at, origin }
    },
  })
  const from = chat("2026-02-01T00:00:00.000Z")
  const places = async (...names: readonly string[]): Promise<[Sessions, Sessions]> => {
    const both = twoPlaces()
    for (const [n, name] of names.entries()) await importSession(both[n] as Sessions, name, { id: "s", from })
    return both
  }
  const [here, there] = await places("c1", "c1")
  expect((await headerIn(here.storage)).creation).toBe("chat:c1")
  expect(await mergeSession(here, "s", there.storage)).toMatchObject({ sent: 0, received: 0 })
  const [one, other] = await places("c1", "c2")
  expect(await codeOf(mergeSession(one, "s", other.storage))).toBe("exists")
  // Without an id in the file nothing but the time tells them apart.
  const [nameless] = await places("")
  expect(await headerIn(nameless.storage)).not.toHaveProperty("creation")
})

test("a log of an older version that is imported has the creation of its session, and is merged with its migration elsewhere", async () => {
  const time = "2026-01-31T09:30:00.000Z"
  const message = { role: "user", content: "hi" }
  const lines = [
    { type: "session", version: 3, id: "old", timestamp: time, cwd: "/" },
    { type: "message", id: "a", parentId: null, timestamp: time, message },
  ].map((record) => JSON.stringify(record))
  const [here, there] = twoPlaces()
  await importSession(here, lines.join("\n"), { id: "s" })
  expect((await headerIn(here.storage)).creation).toMatch(/:old$/)
  await there.storage.append("s", lines, { expect: 0 })
  expect(await mergeSession(here, "s", there.storage)).toMatchObject({ sent: 0, received: 0 })
  expect(await headerIn(there.storage)).not.toHaveProperty("creation")
})

test("a log without a creation is compared by its time, and exported as it was imported", async () => {
  const header = { type: "session", format: "@sessions", version: 4, id: "s", timestamp: "2026-02-01T00:00:00.000Z" }
  const file = `${JSON.stringify(header)}\n`
  const [here, there] = twoPlaces()
  await importSession(here, file, { id: "s" })
  expect(await textOf(exportSession(here, "s"))).toBe(file)
  await there.create({ id: "s" })
  expect(await mergeSession(here, "s", there.storage)).toMatchObject({ sent: 0, received: 0 })
  expect(await headerIn(here.storage)).toEqual(header)
  const later = sessionsIn(undefined, { now: () => Date.UTC(2026, 1, 2) })
  await later.create({ id: "s" })
  expect(await codeOf(mergeSession(here, "s", later.storage))).toBe("exists")
})
