/** A process that stands still between the put of a blob and the line that names it, while a collector runs elsewhere. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf, contextTexts, createWriter, note, reopened, user } from "../../test/writers.ts"
import type { SessionsOptions } from "../session/repository-types.ts"

const LONG = "the only copy of a tool result ".repeat(20)
const HOURS = 3_600_000

/** A session whose clock stands until `sleep`, and a collector that removes every blob meanwhile. */
async function start(o: Omit<SessionsOptions, "storage"> = {}) {
  let time = Date.UTC(2026, 0, 1)
  const location = createMemoryLocation()
  const elsewhere = createMemoryStorage({ location })
  const { sessions, storage } = createWriter(location, { ...o, blobs: { textUnits: 100 }, now: () => time })
  const session = await sessions.create({ id: "s" })
  const sleep = async (hours: number): Promise<void> => {
    time += hours * HOURS
    for await (const { hash } of elsewhere.blobs.list()) await elsewhere.blobs.delete(hash)
  }
  const puts = (): number => storage.calls.filter(({ operation }) => operation === "put").length
  return { location, sessions, session, storage, sleep, puts }
}

test("blobs that were put long before their line is sent are put again first", async () => {
  const { location, session, storage, sleep, puts } = await start()
  const release = storage.hold("append")
  const before = session.append(user("before"))
  const made = session.append(user(LONG))
  while (puts() < 1) await new Promise((resolve) => setImmediate(resolve))
  await sleep(2)
  release()
  await Promise.all([before, made])
  expect(puts()).toBe(2)
  expect(await contextTexts(await reopened(location))).toEqual(["before", LONG])
})

test("if the send itself took long, the blobs are put again before the append resolves", async () => {
  const { location, session, storage, sleep, puts } = await start()
  storage.fail("append", () => void sleep(48))
  await session.append(user(LONG))
  expect(puts()).toBe(2)
  expect(await contextTexts(await reopened(location))).toEqual([LONG])
})

test("a put after a long send that fails leaves the append `indeterminate`, and the next flush puts the blobs again", async () => {
  const { location, session, storage, sleep } = await start()
  storage.fail("append", () => void sleep(48))
  storage.fail("put", undefined, "quota")
  expect(await codeOf(session.append(user(LONG)))).toBe("indeterminate")
  await session.flush()
  expect(await contextTexts(await reopened(location))).toEqual([LONG])
})

test("blobs of an append whose outcome stayed unknown for long are put again when it is resolved", async () => {
  for (const fault of ["request lost", "response lost"] as const) {
    const { location, session, storage, sleep } = await start()
    storage.fail("append", fault)
    storage.fail("head", "quota")
    expect(await codeOf(session.append(user(LONG)))).toBe("indeterminate")
    await sleep(48)
    await session.flush()
    expect(await contextTexts(await reopened(location))).toEqual([LONG])
  }
})

test("blobs of a draft whose first creation failed are put again", async () => {
  const { location, sessions, storage, sleep } = await start()
  const draft = await sessions.draft({ id: "d" })
  await draft.append(note(LONG, "n"))
  storage.fail("append", "quota")
  expect(await codeOf(draft.append(user("first")))).toBe("quota")
  await sleep(48)
  await draft.append(user("second"))
  const opened = await reopened(location, "d")
  expect(await opened.entry("n")).toMatchObject({ data: LONG })
})

test("a put after a long creation that fails leaves the session `indeterminate`, and the next append puts the blobs again", async () => {
  const { location, sessions, storage, sleep } = await start()
  const draft = await sessions.draft({ id: "d" })
  storage.fail("append", () => void sleep(48))
  storage.fail("put", undefined, "quota")
  expect(await codeOf(draft.append(user(LONG)))).toBe("indeterminate")
  await draft.append(user("next"))
  expect(await contextTexts(await reopened(location, "d"))).toEqual([LONG, "next"])
})

test("blobs are put once if nothing took long", async () => {
  const { session, puts } = await start()
  await session.append(user(LONG))
  expect(puts()).toBe(1)
})
