/** Cases of `replace`. */
import { type Chunk, type Head, MAX_CHUNK_BYTES, type SessionStorage, utf8Length } from "@sessions/core/storage"
import { check, equal, equalLines, Mismatch, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { bigLines, collect, create, expectGone, expectLog, line, linesTo } from "../helpers/lines.ts"
import { both, needs } from "../case/needs.ts"

const newLines = [line("new"), line("new too"), line("and a third")]

export const replace: readonly Case[] = casesOf("replace", [
  {
    n: 1,
    clause: "replace.swap",
    title: "a replace swaps the lines of a log and gives it a new identity",
    needs: needs.replace,
    async run({ writers }) {
      const [a, b] = await writers()
      const old = await create(a, "a", linesTo(5))
      const head = await replaceLog(a, newLines, old)
      equal(head.next, 3, "the `next` of the head from replace()")
      check(head.log !== old.log, "its `log`", "another than before", head.log)
      await expectLog(b, "a", newLines, "after the replace")
      const info = await b.head("a")
      equal(
        { next: info?.next, log: info?.log, bytes: info?.bytes },
        { ...head, bytes: newLines.join("\n").length + 1 },
        "its head",
      )
      await b.append("a", [line("more")], { expect: head })
      await expectLog(a, "a", [...newLines, line("more")], "after the next append")
    },
  },
  {
    n: 2,
    clause: "replace.swap",
    title: "a log of many chunks can replace another, and be replaced",
    needs: needs.replace,
    async run({ storage, sizes }) {
      const old = await create(storage, "a", linesTo(2))
      const long = bigLines(sizes.logBytes)
      const head = await replaceLog(storage, long, old)
      await expectLog(storage, "a", long, "after the replace")
      await replaceLog(storage, newLines, head)
      await expectLog(storage, "a", newLines, "after the second replace")
    },
  },
  {
    n: 3,
    clause: "replace.conflict",
    title: "a replace with a wrong head or of a missing session is refused with `conflict` and changes nothing",
    needs: needs.replace,
    async run({ storage }) {
      const first = await create(storage, "a", linesTo(2))
      const second = await storage.append("a", [line(2)], { expect: first })
      for (const expect of [first, { ...second, next: 9 }, { ...second, log: "x" }]) {
        await rejects("conflict", `a replace that expects ${JSON.stringify(expect)}`, () =>
          replaceLog(storage, newLines, expect),
        )
      }
      await expectLog(storage, "a", linesTo(3), "after the refused replaces")
      await rejects("conflict", "a replace of a missing session", () =>
        replaceLog(storage, newLines, second, "missing"),
      )
      await expectGone(storage, "missing", "after the refused replace")
    },
  },
  {
    n: 4,
    clause: "replace.conflict",
    title: "after a replace, old heads are refused with `conflict`, even with an equal `next`",
    needs: needs.replace,
    async run({ writers }) {
      const [a, b] = await writers()
      const old = await create(a, "a", linesTo(3))
      await b.head("a")
      await replaceLog(a, newLines, old)
      await rejects("conflict", "an append with the old head", () => a.append("a", [line("x")], { expect: old }))
      await rejects("conflict", "one by the other writer", () => b.append("a", [line("x")], { expect: old }))
      await rejects("conflict", "a second replace with the old head", () => replaceLog(b, linesTo(1), old))
      await expectLog(b, "a", newLines, "after the refused calls")
    },
  },
  {
    n: 5,
    clause: "read.gone",
    title: "a reader whose log is replaced gets `conflict` and no line of the new log",
    needs: needs.replace,
    async run({ writers, sizes }) {
      const [a, b] = await writers()
      const lines = bigLines(sizes.logBytes)
      const old = await create(a, "a", lines)
      const read: string[] = []
      await rejects("conflict", "the read, after its log was replaced", async () => {
        for await (const chunk of b.read("a")) {
          read.push(...chunk.lines)
          if (read.length === chunk.lines.length)
            await replaceLog(
              a,
              lines.map((one) => one.replace("{", '{"new":1,')),
              old,
            )
        }
      })
      equalLines(read, lines.slice(0, read.length), "the lines that were read before")
    },
  },
  {
    n: 6,
    clause: "replace.swap",
    title: "no lines, a gap between chunks and an invalid line are `invalid`, and the old log stays",
    needs: needs.replace,
    async run({ storage }) {
      const old = await create(storage, "a", linesTo(2))
      const bad: readonly (readonly [string, readonly Chunk[]])[] = [
        ["no chunk", []],
        ["an empty chunk", [{ from: 0, lines: [] }]],
        ["a start that is not 0", [{ from: 1, lines: newLines }]],
        [
          "a gap",
          [
            { from: 0, lines: newLines },
            { from: 4, lines: newLines },
          ],
        ],
        [
          "an overlap",
          [
            { from: 0, lines: newLines },
            { from: 2, lines: newLines },
          ],
        ],
        ["a line with LF", [{ from: 0, lines: ["{}", "a\nb"] }]],
        ["a lone surrogate", [{ from: 0, lines: ["\ud800"] }]],
      ]
      for (const [what, chunks] of bad) {
        await rejects("invalid", `a replace with ${what}`, async () =>
          storage.replace?.("a", stream(chunks), { expect: old }),
        )
        await expectLog(storage, "a", linesTo(2), `after the replace with ${what}`)
      }
      await storage.append("a", [line(2)], { expect: old })
    },
  },
  {
    n: 7,
    clause: "replace.swap",
    title: "a source that fails part-way leaves the old log unchanged",
    needs: needs.replace,
    async run({ storage, capabilities, reopen }) {
      const old = await create(storage, "a", linesTo(2))
      async function* failing(): AsyncGenerator<Chunk> {
        yield* chunksOf(bigLines(600_000))
        throw new Error("the source failed")
      }
      const outcome = await settled(async () => storage.replace?.("a", failing(), { expect: old }))
      check(outcome instanceof Error, "a replace whose source fails", "a rejection", outcome)
      await expectLog(storage, "a", linesTo(2), "after the failed replace")
      equal(
        (await collect(storage.list())).map(({ id }) => id),
        ["a"],
        "the sessions in list()",
      )
      const next = needs.reopening.met(capabilities, {}) ? await reopen() : storage
      await replaceLog(next, newLines, old)
      await expectLog(next, "a", newLines, "after a good replace")
    },
  },
  {
    n: 8,
    clause: "replace.swap",
    title: "a replace keeps documents and the session's row in the list, and drops the old info",
    needs: needs.replace,
    async run({ storage }) {
      const old = await storage.append("a", linesTo(5), { expect: 0, info: "old" })
      await storage.docs.put("sessions/a/x", '"kept"', { expect: null })
      const before = (await storage.head("a"))?.updatedAt ?? 0
      await replaceLog(storage, newLines, old)
      equal((await storage.docs.get("sessions/a/x"))?.text, '"kept"', "the document")
      const rows = await collect(storage.list())
      equal(
        rows.map(({ id, next }) => ({ id, next })),
        [{ id: "a", next: 3 }],
        "list()",
      )
      equal(rows[0]?.info, undefined, "the info")
      check(
        (rows[0]?.updatedAt ?? 0) >= before,
        "updatedAt after the replace",
        `at least ${before}`,
        rows[0]?.updatedAt,
      )
      await storage.delete("a")
      await expectGone(storage, "a", "after a later delete")
    },
  },
  {
    n: 9,
    clause: "replace.swap",
    title: "the next storage on the location finds the replaced log",
    needs: both(needs.replace, needs.reopening),
    async run({ storage, reopen }) {
      const head = await replaceLog(storage, newLines, await create(storage, "a", linesTo(5)))
      const next = await reopen()
      await expectLog(next, "a", newLines, "after reopening")
      await next.append("a", [line("more")], { expect: head })
    },
  },
  {
    n: 10,
    clause: "replace.conflict",
    title: "of a concurrent replace and append with one head exactly one succeeds",
    needs: needs.replace,
    async run({ writers }) {
      const [a, b] = await writers()
      for (let round = 0; round < 5; round++) {
        const session = `s${round}`
        const old = await create(a, session, linesTo(2))
        const append = b.append(session, [line("x")], { expect: old })
        const outcomes = await Promise.allSettled([replaceLog(a, newLines, old, session), append])
        const won = outcomes.map(({ status }) => status === "fulfilled")
        check(won[0] !== won[1], "the winners of the race", "exactly one", won.filter(Boolean).length)
        for (const outcome of outcomes) {
          if (outcome.status === "rejected")
            await rejects("conflict", "the loser", () => Promise.reject(outcome.reason))
        }
        await expectLog(b, session, won[0] === true ? newLines : [...linesTo(2), line("x")], "after the race")
      }
    },
  },
  {
    n: 11,
    clause: "signal.before",
    title: "a replace with an aborted signal is `aborted`, and the old log stays",
    needs: needs.replace,
    async run({ storage }) {
      const expect = await create(storage, "a", linesTo(2))
      const signal = AbortSignal.abort()
      await rejects("aborted", "replace()", async () => storage.replace?.("a", chunksOf(newLines), { expect, signal }))
      await expectLog(storage, "a", linesTo(2), "after the aborted replace")
    },
  },
  {
    n: 12,
    clause: "unsupported",
    title: "without the capability, replace is missing or refused with `unsupported`",
    needs: needs.noReplace,
    async run({ storage }) {
      const expect = await create(storage, "a", linesTo(2))
      if (storage.replace === undefined) return
      await rejects("unsupported", "replace()", async () => storage.replace?.("a", chunksOf(newLines), { expect }))
      await expectLog(storage, "a", linesTo(2), "after the refused replace")
    },
  },
])

async function replaceLog(
  storage: SessionStorage,
  lines: readonly string[],
  expect: Head,
  session = "a",
): Promise<Head> {
  const head = await storage.replace?.(session, chunksOf(lines), { expect })
  if (head === undefined) throw new Mismatch("storage.replace()", "a head", "nothing")
  return head
}

async function* stream(chunks: readonly Chunk[]): AsyncGenerator<Chunk> {
  yield* chunks
}

async function* chunksOf(lines: readonly string[]): AsyncGenerator<Chunk> {
  let from = 0
  while (from < lines.length) {
    let to = from
    for (let bytes = 0; to < lines.length; to++) {
      bytes += utf8Length(lines[to] ?? "") + 1
      if (to > from && bytes > MAX_CHUNK_BYTES) break
    }
    yield { from, lines: lines.slice(from, to) }
    from = to
  }
}

async function settled(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call()
  } catch (error) {
    return error
  }
}
