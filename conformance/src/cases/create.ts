/** Cases of creation and of session ids. */
import { check, equal, equalLines, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { callsWith, invalidIds, unusualIds, caseVariants } from "../helpers/session-ids.ts"
import { collect, create as make, expectGone, expectLog, line, linesTo, readLines } from "../helpers/lines.ts"

export const create: readonly Case[] = casesOf("create", [
  {
    n: 1,
    clause: "append.create",
    title: "`expect: 0` creates a session and returns its head",
    async run({ storage }) {
      const head = await make(storage, "a", linesTo(2))
      equal(head.next, 2, "the `next` of the returned head")
      check(
        typeof head.log === "string" && head.log !== "",
        "the `log` of that head",
        "a text that is not empty",
        head.log,
      )
      const stored = await storage.head("a")
      equal({ next: stored?.next, log: stored?.log }, { next: 2, log: head.log }, "head()")
      await expectLog(storage, "a", linesTo(2), "after the creation")
    },
  },
  {
    n: 2,
    clause: "append.create",
    title: "creating a session that exists is refused with `conflict` and changes nothing",
    async run({ storage }) {
      await storage.append("a", linesTo(2), { expect: 0, info: "first" })
      await rejects("conflict", "a second creation", () =>
        storage.append("a", [line("other")], { expect: 0, info: "second" }),
      )
      await rejects("conflict", "a creation with the same lines", () => make(storage, "a", linesTo(2)))
      await expectLog(storage, "a", linesTo(2), "after the refused creations")
      const info = (await storage.head("a"))?.info
      check(info === undefined || info.text === "first", "the info after the refused creations", '"first"', info)
    },
  },
  {
    n: 3,
    clause: "append.create",
    title: "a creation with many lines is whole",
    async run({ storage, sizes }) {
      const head = await make(storage, "many", linesTo(sizes.lines))
      equal(head.next, sizes.lines, "the `next` of the returned head")
      await expectLog(storage, "many", linesTo(sizes.lines), "after the creation")
    },
  },
  {
    n: 4,
    clause: "append.create",
    title: "of many concurrent creations of one session exactly one succeeds",
    async run({ storage, writers, sizes }) {
      await make(storage, "other")
      const [a, b] = await writers()
      const racers = Array.from({ length: sizes.race }, (_, n) => [line(`racer ${n}`), line("end")])
      const outcomes = await Promise.allSettled(racers.map((lines, n) => make(n % 2 === 0 ? a : b, "raced", lines)))
      const winners = racers.filter((_, n) => outcomes[n]?.status === "fulfilled")
      check(winners.length === 1, "the winners of the race", "exactly one", winners.length)
      for (const outcome of outcomes) {
        if (outcome.status === "rejected")
          await rejects("conflict", "a loser of the race", () => Promise.reject(outcome.reason))
      }
      await expectLog(a, "raced", winners[0] ?? [], "after the race")
      equalLines(await readLines(b, "raced"), winners[0] ?? [], "the log as the other writer reads it")
    },
  },
  {
    n: 5,
    clause: "ids.checked",
    title: "an invalid session id is refused with `invalid` by every method",
    async run({ storage }) {
      for (const id of invalidIds) {
        for (const [name, call] of callsWith(storage, id))
          await rejects("invalid", `${name} with the id ${JSON.stringify(id)}`, call)
      }
      for (const id of [undefined, null, 7, {}] as unknown as string[]) {
        for (const [name, call] of callsWith(storage, id).filter(([one]) => !one.startsWith("docs"))) {
          await rejects("invalid", `${name} with ${id} as the id`, call)
        }
      }
      equal(await collect(storage.list()), [], "list() after the refused calls")
    },
  },
  {
    n: 6,
    clause: "ids.distinct",
    title: "every valid id is a session, however unusual",
    async run({ storage }) {
      await Promise.all(unusualIds.map((id) => make(storage, id, [line(id), line("end")])))
      for (const id of unusualIds) await expectLog(storage, id, [line(id), line("end")], `of the session ${id}`)
      const listed = (await collect(storage.list())).map(({ id }) => id)
      equalLines(listed.toSorted(), unusualIds.toSorted(), "the ids that list() gives, sorted")
      for (const id of unusualIds) await storage.delete(id)
      for (const id of unusualIds) equal(await storage.head(id), undefined, `head() of ${id} after its delete`)
    },
  },
  {
    n: 7,
    clause: "ids.distinct",
    title: "ids that differ only in case are different sessions",
    async run({ storage }) {
      for (const id of caseVariants) await make(storage, id, [line(id)])
      for (const id of caseVariants) await expectLog(storage, id, [line(id)], `of the session ${id}`)
      const [gone, ...rest] = caseVariants.toSorted()
      await storage.delete(gone ?? "")
      await expectGone(storage, gone ?? "", "after the delete")
      const listed = (await collect(storage.list())).map(({ id }) => id)
      equalLines(listed.toSorted(), rest, "the ids that list() gives, sorted")
    },
  },
  {
    n: 8,
    clause: "ids.distinct",
    title: "the documents of every valid id are its own, however unusual it is",
    async run({ storage }) {
      const keyOf = (id: string): string => `sessions/${id}/x`
      await Promise.all(unusualIds.map((id) => make(storage, id, [line(id)])))
      await Promise.all(unusualIds.map((id) => storage.docs.put(keyOf(id), JSON.stringify(id), { expect: null })))
      for (const id of unusualIds) {
        equal((await storage.docs.get(keyOf(id)))?.text, JSON.stringify(id), `the document of the session ${id}`)
        equal(await collect(storage.docs.list(`sessions/${id}/`)), [keyOf(id)], `the documents of the session ${id}`)
      }
      const [gone = "", ...rest] = unusualIds.toReversed()
      await storage.delete(gone)
      equalLines(
        (await collect(storage.docs.list("sessions/"))).toSorted(),
        rest.map(keyOf).toSorted(),
        `the keys after the delete of the session ${gone}`,
      )
    },
  },
])
