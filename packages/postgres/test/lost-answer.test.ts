/** Writes whose answer was lost: what they say, and that none is made again after another writer has undone it. */
import { PGlite } from "@electric-sql/pglite"
import { createPostgresStorage, type PostgresConnection } from "@sessions/postgres"
import type { SessionStorage } from "@sessions/core/storage"
import { describe, expect, onTestFinished, test } from "vitest"
import { createAppend } from "../src/append.ts"
import { createDatabase, type Database } from "../src/database.ts"
import type { Tables } from "../src/schema.ts"

const HEAD = { next: 3, log: "own" }

/** `found`: the row of the session, and the append behind the expected head. */
function appendThatFinds(found: { readonly log: string; readonly append: string | null } | undefined) {
  const db = {
    run: async () => ({ rows: [], repeated: true }),
    make: async () => ({ rows: [], repeated: true }),
    awaitStandby: async () => undefined,
    query: async () => (found === undefined ? [] : [found]),
  } as unknown as Database
  const head = async () => (found === undefined ? undefined : { next: 5, log: found.log, bytes: 50, updatedAt: 0 })
  return createAppend(db, { session: "session", batch: "batch" } as Tables, head)
}

describe("an append whose repeat met no row to change", () => {
  test("is `indeterminate` if the session was deleted since: the deleted log may have had its lines", async () => {
    const append = appendThatFinds(undefined)
    await expect(append("a", ["x"], { expect: HEAD })).rejects.toMatchObject({ code: "indeterminate" })
    await expect(append("a", ["x"], { expect: 0 })).rejects.toMatchObject({ code: "indeterminate" })
  })

  test("is `indeterminate` if the session has another log by now", async () => {
    const append = appendThatFinds({ log: "other", append: null })
    await expect(append("a", ["x"], { expect: HEAD })).rejects.toMatchObject({ code: "indeterminate" })
  })

  test("is `conflict` if another append is behind the expected head", async () => {
    const append = appendThatFinds({ log: "own", append: "other" })
    await expect(append("a", ["x"], { expect: HEAD })).rejects.toMatchObject({ code: "conflict" })
  })

  test("is `indeterminate` if it is a creation and there is a session, since its own may have been deleted", async () => {
    const append = appendThatFinds({ log: "other", append: "other" })
    await expect(append("a", ["x"], { expect: 0 })).rejects.toMatchObject({ code: "indeterminate" })
  })
})

describe("a creation whose answer was lost", () => {
  test("is sent once, unlike a statement that is safe to repeat", async () => {
    const sent: string[] = []
    const query = async (text: string) => {
      if (sent.push(text) % 2 === 1) throw new Error("Connection terminated unexpectedly")
      return { rows: [1] }
    }
    const database = createDatabase({ query }, false)
    expect(await database.run("repeat")).toEqual({ rows: [1], repeated: true })
    expect(await database.make("make")).toEqual({ rows: [], repeated: true })
    expect(sent).toEqual(["repeat", "repeat", "make"])
  })

  test("is found out if it is there", async () => {
    const { storage, lose } = await lossy()
    lose()
    expect(await storage.append("a", ["x"], { expect: 0 })).toMatchObject({ next: 1 })
    lose()
    expect(await storage.docs.put("d", "{}", { expect: null })).toEqual(expect.any(String))
  })

  test("is not made again, with the old identity or another, if the session was deleted since", async () => {
    const { storage, lose } = await lossy()
    lose("DELETE FROM sessions.batch; DELETE FROM sessions.session")
    await expect(storage.append("a", ["x"], { expect: 0 })).rejects.toMatchObject({ code: "indeterminate" })
    expect(await storage.head("a")).toBeUndefined()
  })

  test("is not made again if it is a document that was removed since", async () => {
    const { storage, lose } = await lossy()
    lose("DELETE FROM sessions.doc")
    await expect(storage.docs.put("d", "{}", { expect: null })).rejects.toMatchObject({ code: "indeterminate" })
    expect(await storage.docs.get("d")).toBeUndefined()
  })

  /** `lose`: the answer to the next write is lost, and another writer's statement follows that write. */
  async function lossy(): Promise<{ storage: SessionStorage; lose: (undo?: string) => void }> {
    const database = await PGlite.create()
    onTestFinished(() => database.close())
    let armed: { undo: string } | undefined
    const client: PostgresConnection = {
      async query(text, values) {
        const answer = await database.query(text, values)
        if (armed === undefined || !/^(WITH made|INSERT)/.test(text)) return answer
        const { undo } = armed
        armed = undefined
        await database.exec(undo)
        throw new Error("Connection terminated unexpectedly")
      },
    }
    const storage = createPostgresStorage({ client, durability: "os" })
    await storage.head("any")
    return { storage, lose: (undo = "") => void (armed = { undo }) }
  }
})
