/** Cases of compare-and-set: the comparison of `expect` with the stored head. */
import { type Head, lineMark, type SessionStorage } from "@sessions/core/storage"
import { check, equal, equalLines, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { create, expectGone, expectLog, line, linesTo, readLines } from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

export const cas: readonly Case[] = casesOf("cas", [
  {
    n: 1,
    clause: "append.expect",
    title: "an append with an outdated head is refused with `conflict`, and nothing is written",
    async run({ storage }) {
      const first = await create(storage, "a", linesTo(2))
      const second = await storage.append("a", [line(2)], { expect: first })
      await rejects("conflict", "an append with the head before the last one", () =>
        storage.append("a", [line("x")], { expect: first }),
      )
      await rejects("conflict", "the same lines again", () => storage.append("a", [line(2)], { expect: first }))
      await expectLog(storage, "a", linesTo(3), "after the refused appends")
      await storage.append("a", [line(3)], { expect: second })
    },
  },
  {
    n: 2,
    clause: "append.expect",
    title: "an append with another log's identity is refused with `conflict`",
    async run({ storage }) {
      const head = await create(storage, "a")
      for (const log of ["", "x", `${head.log}x`, head.log.slice(1)]) {
        const what = `an append with the log ${JSON.stringify(log)}`
        await rejects("conflict", what, () => storage.append("a", [line(2)], { expect: { ...head, log } }))
      }
      await expectLog(storage, "a", linesTo(2), "after the refused appends")
    },
  },
  {
    n: 3,
    clause: "append.expect",
    title: "an append beyond the end is refused with `conflict`",
    async run({ storage }) {
      const head = await create(storage, "a")
      for (const next of [3, 4, 1_000_000]) {
        await rejects("conflict", `an append at ${next}`, () =>
          storage.append("a", [line(2)], { expect: { ...head, next } }),
        )
      }
      await expectLog(storage, "a", linesTo(2), "after the refused appends")
    },
  },
  {
    n: 4,
    clause: "append.expect",
    title: "an append with a head to a missing session is refused with `conflict` and creates none",
    async run({ storage }) {
      const head = await create(storage, "a")
      await rejects("conflict", "an append to a missing session", () =>
        storage.append("b", [line(2)], { expect: head }),
      )
      await expectGone(storage, "b", "after the refused append")
    },
  },
  {
    n: 5,
    clause: "append.expect",
    title: "an append with the head of another session of the same length is refused with `conflict`",
    async run({ storage }) {
      const head = await create(storage, "a")
      await create(storage, "b")
      await rejects("conflict", "an append with the head of a to b", () =>
        storage.append("b", [line(2)], { expect: head }),
      )
      await expectLog(storage, "b", linesTo(2), "after the refused append")
    },
  },
  {
    n: 6,
    clause: "append.whole",
    title: "of many concurrent appends to one head exactly one succeeds, whole",
    async run({ writers, sizes }) {
      const [a, b] = await writers()
      let head = await create(a, "a", [line("start")])
      const expected = [line("start")]
      for (let round = 0; round < 3; round++) {
        const batches = Array.from({ length: sizes.race }, (_, n) => [
          line(`${round}.${n}`),
          line("second"),
          line("third"),
        ])
        const at = head
        const outcomes = await Promise.allSettled(
          batches.map((lines, n) => (n % 2 === 0 ? a : b).append("a", lines, { expect: at })),
        )
        const won = outcomes.flatMap((outcome, n) =>
          outcome.status === "fulfilled" ? [{ head: outcome.value, n }] : [],
        )
        check(won.length === 1, "the winners of the race", "exactly one", won.length)
        for (const outcome of outcomes) {
          if (outcome.status === "rejected")
            await rejects("conflict", "a loser of the race", () => Promise.reject(outcome.reason))
        }
        expected.push(...(batches[won[0]?.n ?? 0] ?? []))
        head = won[0]?.head ?? head
        await expectLog(b, "a", expected, `after round ${round}`)
      }
    },
  },
  {
    n: 7,
    clause: "append.expect",
    title: "a writer with an outdated head gets `conflict`, and can append with the new head",
    needs: needs.twoWriters,
    async run({ writers }) {
      const [a, b] = await writers()
      const head = await create(a, "a", linesTo(2))
      const theirs = await b.append("a", [line(2)], { expect: head })
      await rejects("conflict", "an append of the first writer", () => a.append("a", [line("x")], { expect: head }))
      equal((await a.head("a"))?.next, 3, "head() of the first writer")
      await a.append("a", [line(3)], { expect: theirs })
      await expectLog(b, "a", linesTo(4), "as the second writer reads it")
    },
  },
  {
    n: 8,
    clause: "append.whole",
    title: "two writers that retry until they succeed lose no line and write none twice",
    async run({ writers }) {
      const [a, b] = await writers()
      await create(a, "a", [line("start")])
      const acknowledged = (await Promise.all([appendTenLines(a, "a"), appendTenLines(b, "b")])).flat()
      const log = await readLines(a, "a")
      equal(log.length, 21, "the number of lines in the log")
      for (const { text, seq } of acknowledged) equal(log[seq], text, `the line at ${seq}, where it was acknowledged`)
      equalLines(await readLines(b, "a"), log, "the log as the second writer reads it")
    },
  },
  {
    n: 9,
    clause: "append.mark",
    title:
      "an append with the mark of another line is refused with `conflict`, one with that of the last line is written",
    async run({ storage }) {
      const first = [line(0), long("a", "b")]
      const { log } = await create(storage, "a", first)
      const written = [...first]
      // Each batch with the lines whose marks are those of others than its last one.
      const batches: readonly (readonly [batch: string[], others: string[]])[] = [
        [[line("é\u{1F600}")], [line("e\u{1F600}"), first[0] as string]],
        [
          [line(1), line(2), long("c", "d")],
          [line(1), line(2), long("d", "d"), long("c", "c"), `${long("c", "d")}-`],
        ],
        [[line(3)], [line(4), long("c", "d")]],
      ]
      for (const [batch, others] of batches) {
        const expect = { next: written.length, log, mark: lineMark(written.at(-1) as string) }
        await storage.append("a", batch, { expect })
        written.push(...batch)
        for (const other of others) {
          await rejects("conflict", `an append with the mark of ${other.slice(0, 40)}`, () =>
            storage.append("a", [line("x")], { expect: { next: written.length, log, mark: lineMark(other) } }),
          )
        }
      }
      await expectLog(storage, "a", written, "after the refused appends")
      await storage.append("a", [line("without")], { expect: { next: written.length, log } })
      await expectLog(storage, "a", [...written, line("without")], "after an append without a mark")
    },
  },
  {
    n: 10,
    clause: "append.mark",
    title: "a storage that was opened again compares the marks of lines that another one has written",
    needs: needs.reopening,
    async run({ storage, reopen }) {
      const { log } = await create(storage, "a", [line(0), long("a", "b")])
      const again = await reopen()
      await rejects("conflict", "an append with the mark of another line", () =>
        again.append("a", [line("x")], { expect: { next: 2, log, mark: lineMark(long("a", "c")) } }),
      )
      await again.append("a", [line(2)], { expect: { next: 2, log, mark: lineMark(long("a", "b")) } })
      await expectLog(again, "a", [line(0), long("a", "b"), line(2)], "after the two appends")
    },
  },
])

/** A line of 600 characters whose first and last ones tell it from others. */
function long(first: string, last: string): string {
  return line(`${first}${"-".repeat(600)}${last}`)
}

/** Appends ten lines one by one, and retries each on the newest head after a conflict. */
async function appendTenLines(storage: SessionStorage, name: string): Promise<{ text: string; seq: number }[]> {
  const taken: { text: string; seq: number }[] = []
  let expect: Head | undefined
  while (taken.length < 10) {
    const text = line(`${name} ${taken.length}`)
    expect ??= (await storage.head("a")) as Head
    const { next, log }: Head = expect
    try {
      expect = await storage.append("a", [text], { expect: { next, log } })
      taken.push({ text, seq: next })
    } catch (error) {
      if ((error as { code?: unknown }).code !== "conflict") throw error
      expect = undefined
      // A tick of the event loop: otherwise a storage that always refuses would keep the time limit from firing.
      await new Promise((resolve) => setTimeout(resolve, 0))
    }
  }
  return taken
}
