/** An append whose answer was lost, and whose repeat met no row to change. */
import { expect, test } from "vitest"
import { createAppend } from "../src/append.ts"
import type { Database } from "../src/database.ts"
import type { Tables } from "../src/schema.ts"

const HEAD = { next: 3, log: "own" }

/** `found`: the row of the session, and the append behind the expected head. */
function appendThatFinds(found: { readonly log: string; readonly append: string | null } | undefined) {
  const db = {
    run: async () => ({ rows: [], repeated: true }),
    query: async () => (found === undefined ? [] : [found]),
  } as unknown as Database
  const head = async () => (found === undefined ? undefined : { next: 5, log: found.log, bytes: 50, updatedAt: 0 })
  return createAppend(db, { session: "session", batch: "batch" } as Tables, head)
}

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
