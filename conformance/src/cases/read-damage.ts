import { check, equalLines, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { bigLines, collect, create, expectGone, line, linesTo, readFrom, readLines } from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

/** Lines of invalid UTF-8. */
export const readDamage: readonly Case[] = casesOf("read", [
  {
    n: 15,
    clause: "read.corrupt",
    title: "a line that is not UTF-8 is `corrupt`, before and after an append, until its session is deleted",
    needs: needs.corruptLine,
    async run({ storage, corruptLine, reopen }) {
      const head = await create(storage, "a", linesTo(6))
      const spoiled = await corruptLine("a", 3)
      await rejects("corrupt", "a read that comes to it", () => readLines(spoiled, "a"))
      // Whether one can go on behind it is the storage's to say. It must not put anything in the line's place.
      await spoiled.append("a", [line("new")], { expect: head }).catch(() => undefined)
      await rejects("corrupt", "a read after the next append", () => readLines(spoiled, "a"))
      const next = await reopen()
      await rejects("corrupt", "a read by the next storage", () => readLines(next, "a"))
      const refused = await next.delete("a").then(
        () => undefined,
        (error: unknown) => error,
      )
      if (refused === undefined) await expectGone(next, "a", "after its delete")
      else await rejects("corrupt", "a delete of such a session, where it is refused", () => Promise.reject(refused))
    },
  },
  {
    n: 25,
    clause: "read.damage",
    title: "windows begin after a line of invalid UTF-8, so that all lines after it can be read",
    needs: needs.corruptLine,
    async run({ storage, corruptLine, sizes }) {
      const lines = bigLines(sizes.logBytes)
      await create(storage, "a", lines)
      const corrupted = await corruptLine("a", 5)
      for (let before = lines.length; before > 6; ) {
        const what = `the window before ${before}, of a log whose line 5 is damaged`
        const window = await readFrom(corrupted, "a", { maxBytes: 200_000, before })
        const { from = 0 } = window
        check(from >= 6 && from < before, `the first seq of ${what}`, `from 6 to ${before - 1}`, window.from)
        equalLines(window.lines, lines.slice(from, before), what)
        before = from
      }
    },
  },
  {
    n: 26,
    clause: "read.damage",
    title: "a window whose last line is invalid UTF-8 is `corrupt`",
    needs: needs.corruptLine,
    async run({ storage, corruptLine, sizes }) {
      await create(storage, "a", bigLines(sizes.logBytes))
      const corrupted = await corruptLine("a", 5)
      for (const maxBytes of [1, 3_000, 200_000]) {
        const what = `a window of ${maxBytes} bytes whose last line is damaged`
        await rejects("corrupt", what, () => collect(corrupted.read("a", { maxBytes, before: 6 })))
      }
    },
  },
])
