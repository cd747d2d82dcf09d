import type { Head } from "@sessions/core/storage"
import { check, equal, equalLines, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { collect, create, expectGone, expectLog, line, linesTo, readFrom, readLines } from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

/** What a crash in the middle of a write left behind the last whole line. */
export const tails: readonly Case[] = casesOf("tails", [
  {
    n: 1,
    clause: "tails.torn",
    title: "a torn line is not read, not counted and not in the head",
    needs: needs.tearTail,
    async run({ storage, tearTail }) {
      const head = await create(storage, "a", linesTo(3))
      const torn = utf8('{"n":3,"to')
      const next = await tearTail("a", torn)
      await expectLog(next, "a", linesTo(3), "with a torn line behind it")
      equal(await readFrom(next, "a", { maxBytes: 20 }), { from: 1, lines: linesTo(2, 1) }, "its last two lines")
      const info = await next.head("a")
      equal({ next: info?.next, log: info?.log }, head, "its head")
      equal(info?.bytes, linesTo(3).join("\n").length + 1, "its bytes")
      if (info?.torn !== undefined) equal(info.torn, torn.length, "head().torn")
      equal(
        (await collect(next.list())).map((row) => [row.id, row.next]),
        [["a", 3]],
        "its row in list()",
      )
    },
  },
  {
    n: 2,
    clause: "tails.torn",
    title: "the next append stands on a line of its own, with the old head",
    needs: needs.tearTail,
    async run({ storage, tearTail, reopen }) {
      const head = await create(storage, "a", linesTo(3))
      const next = await tearTail("a", utf8('{"n":3,"to'))
      const after = await next.append("a", [line("new")], { expect: head })
      equal(after, { next: 4, log: head.log }, "the head that the append gave")
      await expectLog(next, "a", [...linesTo(3), line("new")], "after the append")
      const info = await next.head("a")
      equal(info?.bytes, [...linesTo(3), line("new")].join("\n").length + 1, "the bytes after it")
      equal(info?.torn ?? 0, 0, "head().torn after it")
      await expectLog(await reopen(), "a", [...linesTo(3), line("new")], "after reopening")
    },
  },
  {
    n: 3,
    clause: "tails.torn",
    title: "wherever the last line was torn, nothing before it is lost and nothing joins it",
    needs: needs.tearTail,
    async run({ storage, tearTail }) {
      const last = utf8('{"t":"é👍\u2028","n":[1,2]}\r')
      let head: Head = await create(storage, "a", linesTo(2))
      const expected = linesTo(2)
      // Up to the whole line without its LF: also that was not acknowledged.
      for (let bytes = 1; bytes <= last.length; bytes++) {
        const next = await tearTail("a", last.subarray(0, bytes))
        equalLines(await readLines(next, "a"), expected, `the log with ${bytes} bytes of a torn line`)
        head = await next.append("a", [line(`after ${bytes}`)], { expect: head })
        expected.push(line(`after ${bytes}`))
        await expectLog(next, "a", expected, `after the append behind ${bytes} bytes of a torn line`)
      }
    },
  },
  {
    n: 4,
    clause: "tails.torn",
    title: "reading changes nothing: the torn line can be looked at until somebody writes",
    needs: needs.tearTail,
    async run({ storage, tearTail, reopen }) {
      await create(storage, "a", linesTo(3))
      const first = await tearTail("a", utf8("torn"))
      const { torn } = (await first.head("a")) ?? {}
      equalLines(await readLines(first, "a"), linesTo(3), "the log")
      await collect(first.list())
      const second = await reopen()
      equal((await second.head("a"))?.torn, torn, "head().torn after reading and reopening")
      equalLines(await readLines(second, "a"), linesTo(3), "the log after reopening")
    },
  },
  {
    n: 5,
    clause: "tails.torn",
    title: "a refused append leaves the whole lines as they are, and a session with a torn line can be deleted",
    needs: needs.tearTail,
    async run({ storage, tearTail }) {
      const head = await create(storage, "a", linesTo(3))
      const next = await tearTail("a", utf8("torn"))
      await rejects("conflict", "an append that counts the torn line", () =>
        next.append("a", ["{}"], { expect: { ...head, next: 4 } }),
      )
      await rejects("conflict", "a creation", () => create(next, "a", ["{}"]))
      await expectLog(next, "a", linesTo(3), "after the refused appends")
      const { bytes } = await next.delete("a")
      check(
        bytes >= linesTo(3).join("\n").length + 1,
        "the bytes that delete() gave",
        "at least those of the lines",
        bytes,
      )
      await expectGone(next, "a", "after the delete")
    },
  },
])

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
