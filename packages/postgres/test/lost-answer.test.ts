/** Appends whose answer was lost: what they say when they are sent again. `pglite/lost-creation.ts` has those to tables. */
import { StorageError } from "@sessions/core/storage"
import { describe, expect, test } from "vitest"
import { createAppend } from "../src/append.ts"
import { type Connection, createDatabase, type Database } from "../src/database.ts"
import { createBlobs, createDocuments } from "../src/documents.ts"
import { NotSent, toError, UnknownOutcome } from "../src/errors.ts"
import { createDelete } from "../src/remove.ts"
import { createReplace } from "../src/replace.ts"
import type { Tables } from "../src/schema.ts"

const LOST = new UnknownOutcome(new Error("Connection terminated unexpectedly"))
const HEAD = { next: 3, log: "0123456789abcdef01234567" }
/** Of the session, as the server gives it. */
const row = (next: number) => ({
  ...HEAD,
  id: "a",
  next,
  bytes: 50,
  updated_at: 0,
  mark: null,
  info: null,
  info_next: null,
})

/** `found`: the row of the session, and the append behind the expected head. */
function appendThatFinds(found: { readonly log: string; readonly append: string | null } | undefined) {
  const db = {
    run: async () => ({ rows: [], lost: LOST }),
    make: async () => ({ rows: [], lost: LOST }),
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
    const append = appendThatFinds({ log: HEAD.log, append: "other" })
    await expect(append("a", ["x"], { expect: HEAD })).rejects.toMatchObject({ code: "conflict" })
  })

  test("is `indeterminate` if it is a creation and there is a session, since its own may have been deleted", async () => {
    const append = appendThatFinds({ log: "other", append: "other" })
    await expect(append("a", ["x"], { expect: 0 })).rejects.toMatchObject({ code: "indeterminate" })
  })
})

describe("a write whose answer was lost, if the server refuses the question what it has done", () => {
  const tables = { session: "session", batch: "batch", doc: "doc", blob: "blob" } as Tables
  const refused = new NotSent(new Error("the database system is in recovery mode"))
  const down = {
    run: async () => ({ rows: [], lost: LOST }),
    make: async () => ({ rows: [], lost: LOST }),
    query: async () => Promise.reject(refused),
    awaitStandby: async () => Promise.reject(refused),
  } as unknown as Database
  const head = async () => ({ ...HEAD, bytes: 50, updatedAt: 0 })
  async function codeOf(call: unknown) {
    try {
      await call
    } catch (error) {
      return error instanceof StorageError ? error.code : toError(error, { doing: "write", writes: true }).code
    }
    return undefined
  }

  test("is `indeterminate`: an append, a change of a document, a deletion of a blob", async () => {
    const append = createAppend(down, tables, head)
    const docs = createDocuments(down, tables)
    const calls = [
      append("a", ["x"], { expect: 0 }),
      append("a", ["x"], { expect: HEAD }),
      docs.compareAndSet("d", null, "new", {}),
      docs.compareAndSet("d", "old", "new", {}),
      docs.compareAndSet("d", "old", null, {}),
      createBlobs(down, tables).delete("b", { ifPutBefore: Infinity }),
    ]
    expect(await Promise.all(calls.map(codeOf))).toEqual(calls.map(() => "indeterminate"))
  })

  test("is `indeterminate`: the commit of a deletion or of a replacement", async () => {
    let transactions = 0
    const statements = { query: async () => [row(HEAD.next)] }
    const commitLost = {
      ...down,
      transaction: async (work: (tx: Connection) => Promise<unknown>) => {
        if (transactions++ % 2 === 1) throw refused
        await work(statements as unknown as Connection)
        throw LOST
      },
    } as unknown as Database
    const deletion = createDelete(commitLost, tables)("a", { expect: HEAD })
    expect(await codeOf(deletion)).toBe("indeterminate")
    transactions = 0
    async function* lines() {
      yield { from: 0, lines: ["x"] }
    }
    const replacement = createReplace(commitLost, tables, head)("a", lines(), { expect: HEAD })
    expect(await codeOf(replacement)).toBe("indeterminate")
  })

  test("is `conflict` if the repeat of a deletion finds lines that were appended since", async () => {
    let next = HEAD.next
    const changed = {
      ...down,
      transaction: async (work: (tx: Connection) => Promise<unknown>) => {
        await work({ query: async () => [row(next)] } as unknown as Connection)
        next++
        throw LOST
      },
    } as unknown as Database
    expect(await codeOf(createDelete(changed, tables)("a", { expect: HEAD }))).toBe("conflict")
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
    expect(await database.run("repeat")).toEqual({ rows: [1], lost: expect.any(UnknownOutcome) })
    expect(await database.make("make")).toEqual({ rows: [], lost: expect.any(UnknownOutcome) })
    expect(sent).toEqual(["repeat", "repeat", "make"])
  })
})
