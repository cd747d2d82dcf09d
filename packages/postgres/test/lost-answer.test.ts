/** Appends whose answer was lost: what they say when they are sent again. `pglite/lost-creation.ts` has those to tables. */
import { describe, expect, test } from "vitest"
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
})
