import { check, equal, equalLines, rejects } from "../helpers/assert.ts"
import type { Case } from "../case/case.ts"
import { casesOf } from "../case/case.ts"
import { callsWith, hostileIds, oddIds, sameButForCase } from "../helpers/session-ids.ts"
import { collect, create as make, expectGone, expectLog, line, linesTo, readLines } from "../helpers/lines.ts"

export const create: readonly Case[] = casesOf("create", [
  {
    n: 1,
    clause: "append.create",
    title: "`expect: 0` creates a session and gives its head",
    async run({ storage }) {
      const head = await make(storage, "a", linesTo(2))
      equal(head.next, 2, "the `next` of the head that the append gave")
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
    title: "creating a session that exists is `conflict`, and changes nothing",
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
    title: "a creation with many lines is there whole",
    async run({ storage, sizes }) {
      const head = await make(storage, "many", linesTo(sizes.lines))
      equal(head.next, sizes.lines, "the `next` of the head that the append gave")
      await expectLog(storage, "many", linesTo(sizes.lines), "after the creation")
    },
  },
  {
    n: 4,
    clause: "append.create",
    title: "of many creations of one session at once exactly one wins",
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
      equalLines(await readLines(b, "raced"), winners[0] ?? [], "the log that the other writer sees")
    },
  },
  {
    n: 5,
    clause: "ids.checked",
    title: "what is no session id is `invalid` in every method",
    async run({ storage }) {
      for (const id of hostileIds) {
        for (const [name, call] of callsWith(storage, id))
          await rejects("invalid", `${name} with the id ${JSON.stringify(id)}`, call)
      }
      for (const id of [undefined, null, 7, {}] as unknown as string[]) {
        for (const [name, call] of callsWith(storage, id).filter(([one]) => !one.startsWith("docs"))) {
          await rejects("invalid", `${name} with ${id} for an id`, call)
        }
      }
      equal(await collect(storage.list()), [], "list() after that")
    },
  },
  {
    n: 6,
    clause: "ids.distinct",
    title: "every legal id is a session, however odd",
    async run({ storage }) {
      await Promise.all(oddIds.map((id) => make(storage, id, [line(id), line("end")])))
      for (const id of oddIds) await expectLog(storage, id, [line(id), line("end")], `of the session ${id}`)
      const listed = (await collect(storage.list())).map(({ id }) => id)
      equalLines(listed.toSorted(), oddIds.toSorted(), "the ids that list() gives, sorted")
      for (const id of oddIds) await storage.delete(id)
      for (const id of oddIds) equal(await storage.head(id), undefined, `head() of ${id} after its delete`)
    },
  },
  {
    n: 7,
    clause: "ids.distinct",
    title: "ids that differ in case only are sessions of their own",
    async run({ storage }) {
      for (const id of sameButForCase) await make(storage, id, [line(id)])
      for (const id of sameButForCase) await expectLog(storage, id, [line(id)], `of the session ${id}`)
      const [gone, ...rest] = sameButForCase.toSorted()
      await storage.delete(gone ?? "")
      await expectGone(storage, gone ?? "", "after the delete")
      const listed = (await collect(storage.list())).map(({ id }) => id)
      equalLines(listed.toSorted(), rest, "the ids that list() gives, sorted")
    },
  },
])
