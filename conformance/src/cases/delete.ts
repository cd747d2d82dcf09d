/** Cases of `delete`. */
import { type Head, lineMark } from "@sessions/core/storage"
import { check, equal, equalLines, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { bigLines, create, expectGone, expectLog, line, linesTo } from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

const NOTHING = { bytes: 0, parts: 0, purged: true }
const SECRET = "SECRET-OF-THE-SESSION"

export const deletes: readonly Case[] = casesOf("delete", [
  {
    n: 1,
    clause: "delete.gone",
    title: "a deleted session is gone for every writer",
    async run({ writers }) {
      const [a, b] = await writers()
      await create(a, "a")
      equal((await b.head("a"))?.next, 2, "head() before the delete")
      await a.delete("a")
      await expectGone(a, "a", "after the delete")
      await expectGone(b, "a", "for the other writer")
    },
  },
  {
    n: 2,
    clause: "delete.gone",
    title: "a deleted session is gone for the next storage on the location",
    needs: needs.reopening,
    async run({ storage, reopen }) {
      await create(storage, "a")
      await storage.docs.put("sessions/a/x", "{}", { expect: null })
      await storage.delete("a")
      const next = await reopen()
      await expectGone(next, "a", "after reopening")
      equal(await next.docs.get("sessions/a/x"), undefined, "its document after reopening")
    },
  },
  {
    n: 3,
    clause: "delete.gone",
    title: "a delete returns the bytes and parts that head reported, or zeros for a missing session",
    async run({ storage, sizes }) {
      await create(storage, "a", bigLines(sizes.logBytes))
      const head = await storage.head("a")
      equal(
        await storage.delete("a"),
        { bytes: head?.bytes, parts: head?.parts?.length ?? 1, purged: true },
        "the result of delete()",
      )
      equal(await storage.delete("a"), NOTHING, "the result of a second delete()")
      equal(await storage.delete("missing"), NOTHING, "the result of delete() for a missing session")
    },
  },
  {
    n: 4,
    clause: "delete.stays",
    title: "after a delete, an append with the old head is refused with `conflict` and creates no session",
    async run({ writers }) {
      const [a, b] = await writers()
      const head = await create(a, "a")
      await a.delete("a")
      await rejects("conflict", "an append with the old head", () => a.append("a", [line(2)], { expect: head }))
      await rejects("conflict", "one by the other writer", () => b.append("a", [line(2)], { expect: head }))
      await expectGone(b, "a", "after the refused appends")
    },
  },
  {
    n: 5,
    clause: "delete.stays",
    title: "a recreated session has a new identity: an old head is refused with `conflict`, even with an equal `next`",
    async run({ writers }) {
      const [a, b] = await writers()
      const old = await create(a, "a", linesTo(2))
      await b.head("a")
      await a.delete("a")
      const made = await create(a, "a", [line("new"), line("new too")])
      check(made.log !== old.log, "the `log` of the recreated session", "another than before", made.log)
      await rejects("conflict", "an append with the old head", () => a.append("a", [line("x")], { expect: old }))
      await rejects("conflict", "one by the other writer", () => b.append("a", [line("x")], { expect: old }))
      await expectLog(b, "a", [line("new"), line("new too")], "after the refused appends")
      await b.append("a", [line("third")], { expect: made })
    },
  },
  {
    n: 6,
    clause: "delete.stays",
    title: "a recreated session has no line, info or document of the deleted one",
    async run({ storage, sizes }) {
      await storage.append("a", bigLines(sizes.logBytes), { expect: 0, info: "old" })
      await storage.docs.put("sessions/a/x", "{}", { expect: null })
      await storage.delete("a")
      await create(storage, "a", [line("new")])
      await expectLog(storage, "a", [line("new")], "after its recreation")
      const head = await storage.head("a")
      equal(head?.info, undefined, "its info")
      equal(head?.bytes, line("new").length + 1, "its bytes")
      equal(await storage.docs.get("sessions/a/x"), undefined, "the document of the deleted one")
    },
  },
  {
    n: 7,
    clause: "delete.gone",
    title: "a delete removes the documents of the session",
    async run({ storage }) {
      await create(storage, "a")
      const version = await storage.docs.put("sessions/a/x", "{}", { expect: null })
      await storage.docs.put("sessions/a/y", "{}", { expect: null })
      await storage.delete("a")
      equal(await storage.docs.get("sessions/a/x"), undefined, "docs.get() of the first")
      equal(await storage.docs.get("sessions/a/y"), undefined, "docs.get() of the second")
      await rejects("conflict", "a put on its old version", () =>
        storage.docs.put("sessions/a/x", "[]", { expect: version }),
      )
    },
  },
  {
    n: 8,
    clause: "delete.only",
    title: "a delete keeps blobs, and sessions and documents with similar names",
    async run({ storage }) {
      const others = ["ab", "a.b", "a-b", "a1", "A", "b"]
      for (const id of ["a", ...others]) {
        await create(storage, id, [line(id)])
        await storage.docs.put(`sessions/${id}/x`, `"${id}"`, { expect: null })
      }
      await storage.docs.put("a", '"global"', { expect: null })
      const hash = await storage.blobs.put(new Uint8Array([1]))
      await storage.delete("a")
      for (const id of others) {
        await expectLog(storage, id, [line(id)], `of ${id}, after the delete of a`)
        equal((await storage.docs.get(`sessions/${id}/x`))?.text, `"${id}"`, `the document of ${id}`)
      }
      equal((await storage.docs.get("a"))?.text, '"global"', "the document a")
      equal(await storage.blobs.has(hash), true, "blobs.has()")
    },
  },
  {
    n: 9,
    clause: "delete.stays",
    title: "after concurrent appends and a delete have settled, the session is gone",
    async run({ writers }) {
      const [a, b] = await writers()
      for (let round = 0; round < 5; round++) {
        const session = `s${round}`
        let last = create(a, session, [line(0)])
        await last
        const sent = [last]
        for (let n = 1; n < 10; n++)
          sent.push((last = last.then((head) => a.append(session, [line(n)], { expect: head }))))
        const [, ...outcomes] = await Promise.allSettled([b.delete(session), ...sent])
        const refused = outcomes.find((outcome) => outcome.status === "rejected")
        if (refused !== undefined)
          await rejects("conflict", "an append after the delete", () => Promise.reject(refused.reason))
        // This holds too if all appends were committed before the delete.
        await expectGone(b, session, "after the delete")
      }
    },
  },
  {
    n: 10,
    clause: "delete.stays",
    title: "a concurrent delete and creation leave the new session whole, or no session",
    async run({ writers }) {
      const [a, b] = await writers()
      for (let round = 0; round < 5; round++) {
        const session = `s${round}`
        const old = await create(a, session, linesTo(3))
        const [deleted, made] = await Promise.allSettled([
          a.delete(session),
          create(b, session, [line("new"), line("end")]),
        ])
        check(deleted.status === "fulfilled", "the delete", "success", deleted)
        if (made.status === "rejected") {
          await rejects("conflict", "the refused creation, which came before the delete", () =>
            Promise.reject(made.reason),
          )
          await expectGone(a, session, "after the delete")
        } else {
          check(made.value.log !== old.log, "the `log` of the new session", "another than before", made.value.log)
          await expectLog(a, session, [line("new"), line("end")], "after the creation")
        }
      }
    },
  },
  {
    n: 11,
    clause: "delete.gone",
    title: "of many concurrent deletes of one session exactly one reports it",
    async run({ writers, sizes }) {
      const [a, b] = await writers()
      await create(a, "a")
      const results = await Promise.all(Array.from({ length: sizes.race }, (_, n) => (n % 2 === 0 ? a : b).delete("a")))
      equal(results.filter(({ bytes }) => bytes > 0).length, 1, "the deletes that removed something")
      equalLines(
        results.filter(({ bytes }) => bytes > 0).map(({ bytes }) => String(bytes)),
        ["16"],
        "the bytes that were removed",
      )
      await expectGone(a, "a", "after the deletes")
    },
  },
  {
    n: 12,
    clause: "signal.before",
    title: "a delete with an aborted signal is `aborted`, and nothing is deleted",
    async run({ storage }) {
      await create(storage, "a")
      await rejects("aborted", "delete()", () => storage.delete("a", { signal: AbortSignal.abort() }))
      await expectLog(storage, "a", linesTo(2), "after the aborted delete")
    },
  },
  {
    n: 13,
    clause: "delete.purged",
    title: "after a delete that is `purged`, nothing in the store contains a line, info or document of the session",
    needs: needs.contains,
    async run({ storage, contains, close, sizes }) {
      const secrets = ["FIRST", "LATER", "INFO", "DOCUMENT"].map((name) => `${name}-SECRET-OF-THE-SESSION`)
      const [first, later, info, document] = secrets as [string, string, string, string]
      const head = await create(storage, "a", [line(first), ...bigLines(sizes.logBytes)])
      await storage.append("a", [line(later)], { expect: head, info })
      await storage.docs.put("sessions/a/x", `"${document}"`, { expect: null })
      equal(await contains(later), true, "whether the store contains a line of the session before the delete")
      equal((await storage.delete("a")).purged, true, "`purged` of the delete")
      await close()
      for (const secret of secrets) equal(await contains(secret), false, `whether the store still contains ${secret}`)
    },
  },
  {
    n: 14,
    clause: "delete.purged",
    title: "a delete that cannot remove the bytes is not `purged`, and a repeated one removes them",
    needs: needs.removal,
    async run({ storage, arm, contains }) {
      await create(storage, "a", [line(SECRET), line(1)])
      await storage.docs.put("sessions/a/x", `"${SECRET}"`, { expect: null })
      const head = await storage.head("a")
      const repair = await arm("removal")
      const deleted = { bytes: head?.bytes, parts: head?.parts?.length ?? 1, purged: false }
      equal(await storage.delete("a"), deleted, "the result of the delete")
      await expectGone(storage, "a", "after the delete")
      await create(storage, "b", [line("b")])
      await repair()
      equal(await storage.delete("a"), NOTHING, "the result of the repeated delete")
      equal((await contains(SECRET)) ?? false, false, "whether the store still contains text of the session")
      await expectLog(storage, "b", [line("b")], "of another session, after the deletes")
    },
  },
  {
    n: 15,
    clause: "delete.purged",
    title: "the bytes that a delete left are not in a session that is created again, and go with its delete",
    needs: needs.removal,
    async run({ storage, arm, contains }) {
      await create(storage, "a", [line(SECRET), line(1)])
      await storage.docs.put("sessions/a/x", `"${SECRET}"`, { expect: null })
      const repair = await arm("removal")
      await storage.delete("a")
      await repair()
      await create(storage, "a", [line("new")])
      await expectLog(storage, "a", [line("new")], "of the session that was created again")
      const head = await storage.head("a")
      const deleted = { bytes: head?.bytes, parts: head?.parts?.length ?? 1, purged: true }
      equal(await storage.delete("a"), deleted, "the result of the second delete")
      equal((await contains(SECRET)) ?? false, false, "whether the store still contains text of the first session")
    },
  },
  {
    n: 16,
    clause: "delete.expect",
    title:
      "a delete with another head than the stored one is `conflict` and deletes nothing; with the stored one it deletes",
    needs: needs.deleteIf,
    async run({ storage }) {
      const first = await create(storage, "a")
      const head = await storage.append("a", [line(2)], { expect: first })
      await storage.docs.put("sessions/a/x", "{}", { expect: null })
      const other = await create(storage, "b", linesTo(3))
      await rejects("conflict", "a delete with an older head", () => storage.delete("a", { expect: first }))
      await rejects("conflict", "one with the head of another log", () => storage.delete("a", { expect: other }))
      await rejects("conflict", "one of a missing session", () => storage.delete("missing", { expect: head }))
      await expectLog(storage, "a", linesTo(3), "after the refused deletes")
      equal((await storage.docs.get("sessions/a/x"))?.text, "{}", "its document after the refused deletes")
      equal((await storage.delete("a", { expect: head })).parts > 0, true, "whether the delete removed the log")
      await expectGone(storage, "a", "after the delete")
    },
  },
  {
    n: 17,
    clause: "delete.expect",
    title: "of an append and a delete with one head exactly one succeeds",
    needs: needs.deleteIf,
    async run({ writers }) {
      const [a, b] = await writers()
      for (let round = 0; round < 8; round++) {
        const session = `s${round}`
        const head = await create(a, session)
        const append = (): Promise<unknown> => a.append(session, [line(2)], { expect: head })
        const remove = (): Promise<unknown> => b.delete(session, { expect: head })
        const both = round % 2 === 0 ? [append(), remove()] : [remove(), append()].toReversed()
        const [appended, removed] = await Promise.allSettled(both)
        check(appended?.status !== removed?.status, "the outcomes", "one success", [appended, removed])
        if (appended?.status === "fulfilled") await expectLog(b, session, linesTo(3), "after the refused delete")
        else await expectGone(a, session, "after the delete")
      }
    },
  },
  {
    n: 19,
    clause: "delete.expect",
    title:
      "a delete with the mark of another line is `conflict` and deletes nothing; with that of the last line it deletes",
    needs: needs.deleteIf,
    async run({ storage }) {
      const { next, log } = await create(storage, "a", [line(0)])
      const expect = (last: string): Head => ({ next, log, mark: lineMark(last) })
      await rejects("conflict", "a delete with the mark of another line", () =>
        storage.delete("a", { expect: expect(line(1)) }),
      )
      equal(
        (await storage.delete("a", { expect: expect(line(0)) })).parts > 0,
        true,
        "whether the delete removed the log",
      )
    },
  },
  {
    n: 18,
    clause: "sweep.unused",
    title:
      "a sweep leaves logs, documents and blobs as they are, beside appends and deletes, and with `dryRun` removes nothing",
    async run({ storage }) {
      if (storage.sweep === undefined) return
      let head = await create(storage, "a")
      await storage.docs.put("sessions/a/x", "{}", { expect: null })
      await storage.docs.put("y", "[]", { expect: null })
      const hash = await storage.blobs.put(new Uint8Array([1, 2, 3]))
      await create(storage, "b")
      await storage.delete("b")
      const counted = await storage.sweep({ dryRun: true })
      check(counted.removed >= 0 && counted.left === 0, "a dry run", "counts", counted)
      const [swept, appended] = await Promise.all([
        storage.sweep(),
        storage.append("a", [line(2)], { expect: head }),
        storage.delete("missing"),
      ])
      head = appended
      check(swept.removed >= 0 && swept.bytes >= 0, "a sweep", "counts", swept)
      equal((await storage.sweep({ dryRun: true })).removed, 0, "what a second sweep finds")
      await expectLog(storage, "a", linesTo(3), "after the sweeps")
      equal((await storage.docs.get("sessions/a/x"))?.text, "{}", "the document of the session")
      equal((await storage.docs.get("y"))?.text, "[]", "the other document")
      equal(await storage.blobs.has(hash), true, "blobs.has()")
      await storage.append("a", [line(3)], { expect: head })
    },
  },
])
