/** A process that is suspended while it transfers a session, between a blob and the line that names it, while a collector runs elsewhere. */
import { createMemoryStorage } from "@sessions/memory"
import { describe, expect, test } from "vitest"
import { header, lines, message } from "../../test/older-logs.ts"
import { sessionsIn, textOf } from "../../test/transfer.ts"
import { contextTexts, user } from "../../test/writers.ts"
import type { Session } from "../session/types.ts"
import type { Sessions } from "../session/repository-types.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { copySession, exportSession, forkSession, importSession, migrateSession } from "./index.ts"

const LONG = "the only copy of a tool result ".repeat(20)
const TWO_DAYS = 48 * 3_600_000

type Place = "after the first put" | "before the write" | "nowhere"

/** A repository that is suspended once. Meanwhile two days pass, and a collector removes every blob. */
async function start(place: Place) {
  let time = Date.UTC(2026, 0, 1)
  let puts = 0
  let left = place
  const inner = createMemoryStorage()
  await inner.append("older", OLDER, { expect: 0 })
  const suspend = async (at: Place): Promise<void> => {
    if (at !== left) return
    left = "nowhere"
    time += TWO_DAYS
    for await (const { hash } of inner.blobs.list()) await inner.blobs.delete(hash)
  }
  const storage: SessionStorage = {
    ...inner,
    async append(...args) {
      await suspend("before the write")
      return inner.append(...args)
    },
    async replace(...args) {
      await suspend("before the write")
      return (inner.replace as NonNullable<SessionStorage["replace"]>)(...args)
    },
    blobs: {
      ...inner.blobs,
      async put(...args) {
        puts++
        const hash = await inner.blobs.put(...args)
        await suspend("after the first put")
        return hash
      },
    },
  }
  const options = { blobs: { textUnits: 100 }, now: () => time }
  return { sessions: sessionsIn(storage, options), storage, options, puts: () => puts }
}

const OLDER = lines({ ...header(3), id: "older" }, message("a", null, LONG))

/** A session with a blob in another storage. */
async function source(now: () => number = Date.now): Promise<Sessions> {
  const sessions = sessionsIn(createMemoryStorage(), { blobs: { textUnits: 100 }, now })
  await (await sessions.create({ id: "s" })).append(user(LONG))
  return sessions
}

const TRANSFERS: Readonly<Record<string, (to: Awaited<ReturnType<typeof start>>) => Promise<Session>>> = {
  async "an import of an own log"({ sessions }) {
    const { id } = await importSession(
      sessions,
      await textOf(exportSession(await source(), "s", { selfContained: true })),
    )
    return sessions.open(id)
  },
  async "an import of an older log"({ sessions }) {
    const { id } = await importSession(sessions, OLDER.join("\n"))
    return sessions.open(id)
  },
  async "a copy"({ sessions, storage, options }) {
    await copySession(await source(options.now), "s", storage)
    return sessions.open("s")
  },
  "a fork of an older log": ({ sessions }) => forkSession(sessions, "older"),
  async "a migration"({ sessions }) {
    await migrateSession(sessions, "older")
    return sessions.open("older")
  },
}

describe.each(Object.entries(TRANSFERS))("%s", (name, transfer) => {
  /** A migration puts its backup too. */
  const once = name === "a migration" ? 2 : 1

  test("puts its blobs again if the lines are sent long after, or if that takes long", async () => {
    for (const place of ["after the first put", "before the write"] as const) {
      const to = await start(place)
      expect(await contextTexts(await transfer(to))).toEqual([LONG])
      expect(to.puts()).toBe(2 * once)
    }
  })

  test("puts them once if nothing takes long", async () => {
    const to = await start("nowhere")
    expect(await contextTexts(await transfer(to))).toEqual([LONG])
    expect(to.puts()).toBe(once)
  })
})
