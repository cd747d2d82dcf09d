/** Cases of `list`: completeness, order, paging and limits. */
import type { ListRow, SessionStorage } from "@sessions/core/storage"
import { check, equal, equalLines, rejects, until } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { invalidIds } from "../helpers/session-ids.ts"
import { collect, create, expectLog, line, linesTo } from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

export const list: readonly Case[] = casesOf("list", [
  {
    n: 1,
    clause: "list.all",
    title: "every session is listed once, with the values of its head",
    async run({ storage }) {
      for (const id of ["a", "b", "c"]) await create(storage, id, [line(id)])
      const rows = await collect(storage.list())
      equalLines(rows.map(({ id }) => id).toSorted(), ["a", "b", "c"], "the ids, sorted")
      for (const { id, ...row } of rows)
        equal(withoutMark(row), withoutMark(await storage.head(id)), `the row of ${id}, compared with its head()`)
    },
  },
  {
    n: 2,
    clause: "list.all",
    title: "more than 1,000 sessions are listed, each once",
    async run({ storage, capabilities, sizes }) {
      const ids = Array.from({ length: sizes.sessions }, (_, n) => `s${n}`)
      for (let n = 0; n < ids.length; n += 50)
        await Promise.all(ids.slice(n, n + 50).map((id) => create(storage, id, [line(id)])))
      const rows = await collect(storage.list())
      equal(rows.length, ids.length, "the number of rows")
      equalLines(rows.map(({ id }) => id).toSorted(), ids.toSorted(), "the ids, sorted")
      checkOrder(rows, capabilities.listOrder)
    },
  },
  {
    n: 3,
    clause: "list.order",
    title: "the session with the latest append comes first",
    needs: needs.newestFirst,
    async run({ storage, sizes }) {
      for (const id of ["a", "b", "c"]) await create(storage, id)
      for (const id of ["b", "a", "c"]) {
        await makeNewest(storage, id, sizes.waitMs)
        const rows = await collect(storage.list())
        equal(rows[0]?.id, id, `the first row after an append to ${id}`)
        checkOrder(rows, "updatedAt")
      }
    },
  },
  {
    n: 4,
    clause: "list.order",
    title: "ids are in ascending order, and `after` continues after an id",
    needs: needs.orderedById,
    async run({ storage }) {
      const ids = ["B", "a", "a.1", "a.10", "a.2", "b", "ab", "0", "Z9"].toSorted()
      for (const id of ids.toReversed()) await create(storage, id)
      equalLines(
        (await collect(storage.list())).map(({ id }) => id),
        ids,
        "the ids",
      )
      const pages: string[] = []
      for (let after: string | undefined; ; ) {
        const page = await collect(storage.list({ limit: 2, ...(after !== undefined && { after }) }))
        pages.push(...page.map(({ id }) => id))
        check(pages.length <= ids.length, "the ids in pages of two", `${ids.length} of them`, pages)
        after = page.at(-1)?.id
        if (after === undefined) break
      }
      equalLines(pages, ids, "the ids in pages of two")
      equal((await collect(storage.list({ after: "a.3" })))[0]?.id, "ab", "the first id after a missing one")
      equal(await collect(storage.list({ after: "zz" })), [], "the list after the last id")
      for (const after of invalidIds)
        await rejects("invalid", `after: ${JSON.stringify(after)}`, () => collect(storage.list({ after })))
    },
  },
  {
    n: 5,
    clause: "unsupported",
    title: "a storage that lists the newest first refuses `after` with `unsupported`",
    needs: needs.newestFirst,
    async run({ storage }) {
      await create(storage, "a")
      await rejects("unsupported", "list() with after", () => collect(storage.list({ after: "a" })))
      await rejects("unsupported", "list() with after and a limit", () =>
        collect(storage.list({ after: "a", limit: 1 })),
      )
    },
  },
  {
    n: 6,
    clause: "list.limit",
    title: "`limit` returns at most that many rows, the first ones",
    async run({ storage }) {
      for (const id of ["a", "b", "c", "d"]) await create(storage, id)
      const all = (await collect(storage.list())).map(({ id }) => id)
      for (const limit of [0, 1, 3, 4, 5, 1_000]) {
        const ids = (await collect(storage.list({ limit }))).map(({ id }) => id)
        equalLines(ids, all.slice(0, limit), `the ids with limit ${limit}`)
      }
      for (const limit of [-1, 0.5, Number.NaN, "1" as unknown as number]) {
        await rejects("invalid", `list() with limit ${limit}`, () => collect(storage.list({ limit })))
      }
    },
  },
  {
    n: 7,
    clause: "list.all",
    title: "a deleted session is not listed, and a recreated one is listed once",
    async run({ storage }) {
      for (const id of ["a", "b", "c"]) await create(storage, id)
      await storage.delete("b")
      await storage.delete("c")
      await create(storage, "c")
      const ids = (await collect(storage.list())).map(({ id }) => id)
      equalLines(ids.toSorted(), ["a", "c"], "the ids, sorted")
    },
  },
  {
    n: 8,
    clause: "list.all",
    title: "a list returns every session that exists throughout it, while others are created and deleted",
    async run({ writers }) {
      const [a, b] = await writers()
      const ids = Array.from({ length: 30 }, (_, n) => `s${n}`)
      const heads = await Promise.all(ids.map((id) => create(a, id)))
      const seen: string[] = []
      for await (const { id } of b.list()) {
        seen.push(id)
        if (seen.length > 3) continue
        await create(a, `new${seen.length}`)
        await a.delete(`new${seen.length - 1}`)
        await a.append("s7", [line(seen.length)], { expect: { log: heads[7]?.log ?? "", next: seen.length + 1 } })
      }
      equalLines(
        seen.filter((id) => id.startsWith("s")).toSorted(),
        ids.toSorted(),
        "the sessions that existed throughout, sorted",
      )
    },
  },
  {
    n: 9,
    clause: "list.all",
    title: "documents and blobs are not listed, and a list may be stopped early",
    async run({ storage }) {
      await storage.docs.put("x", "{}", { expect: null })
      const ghost = storage.docs.put("sessions/ghost/x", "{}", { expect: null })
      // A storage may require that a session exists before its documents.
      await ghost.catch(() => rejects("conflict", "a document of a missing session", () => ghost))
      await storage.blobs.put(new Uint8Array([1]))
      equal(await collect(storage.list()), [], "list() without sessions")
      for (const id of ["a", "b"]) await create(storage, id, linesTo(1))
      for await (const _ of storage.list()) break
      equal((await collect(storage.list())).length, 2, "the number of rows")
    },
  },
  {
    n: 10,
    clause: "signal.before",
    title: "a list with an aborted signal is `aborted`",
    async run({ storage }) {
      await create(storage, "a")
      await rejects("aborted", "list()", () => collect(storage.list({ signal: AbortSignal.abort() })))
    },
  },
  {
    n: 11,
    clause: "list.unreadable",
    title: "a session whose head cannot be read is listed with the error of `head`, and hides no other",
    needs: needs.corruptHead,
    async run({ storage, corruptHead, capabilities }) {
      for (const id of ["a", "b", "c"]) await create(storage, id, [line(id)])
      const next = await corruptHead("b")
      const rows = await collect(next.list())
      equalLines(rows.map(({ id }) => id).toSorted(), ["a", "b", "c"], "the ids, sorted")
      if (capabilities.listOrder === "id")
        equalLines(
          rows.map(({ id }) => id),
          ["a", "b", "c"],
          "the ids",
        )
      for (const { id, ...row } of rows) {
        if (id !== "b")
          equal(withoutMark(row), withoutMark(await next.head(id)), `the row of ${id}, compared with its head()`)
        else {
          check(row.error instanceof Error, "the row of the session that cannot be read", "one with an `error`", row)
          await rejects(row.error?.code ?? "corrupt", "head() of that session", () => next.head(id))
          equal(Object.keys(row), ["error"], "the fields of its row besides `id`")
        }
      }
      await expectLog(next, "c", [line("c")], "of another session")
      await create(next, "d")
      equal((await collect(next.list())).length, 4, "the number of rows after another creation")
    },
  },
])

function checkOrder(rows: readonly ListRow[], order: "updatedAt" | "id"): void {
  for (const [n, row] of rows.entries()) {
    const before = rows[n - 1]
    if (before === undefined) continue
    const holds = order === "id" ? before.id < row.id : (before.updatedAt ?? 0) >= (row.updatedAt ?? 0)
    check(
      holds,
      `the row ${n} of a list ordered by ${order}`,
      `one that follows ${before.id} (${before.updatedAt})`,
      row,
    )
  }
}

/** Appends until the clock has advanced and the session is newer than all others. */
async function makeNewest(storage: SessionStorage, session: string, waitMs: number): Promise<void> {
  const others = (await collect(storage.list())).filter(({ id }) => id !== session)
  const newest = Math.max(...others.map(({ updatedAt }) => updatedAt ?? 0))
  await until(waitMs, `an updatedAt of ${session} after ${newest}`, async () => {
    const head = await storage.head(session)
    if (head === undefined) return false
    await storage.append(session, [line("more")], { expect: { next: head.next, log: head.log } })
    return ((await storage.head(session))?.updatedAt ?? 0) > newest
  })
}

/** A storage may know the mark in one of the two calls alone. */
function withoutMark(head: object | undefined): object | undefined {
  const { mark: _, ...rest } = { mark: undefined, ...head }
  return head && rest
}
