/** Cases of `head`: next, bytes, parts, times and info. */
import { MAX_INFO_BYTES, type SessionStorage, utf8Length } from "@sessions/core/storage"
import { check, equal, rejects, until } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { bigLines, collect, create, exactLines, expectLog, line, linesTo } from "../helpers/lines.ts"

export const head: readonly Case[] = casesOf("head", [
  {
    n: 1,
    clause: "head.exact",
    title: "a missing session has no head",
    async run({ storage }) {
      equal(await storage.head("missing"), undefined, "head() of a missing session")
      await create(storage, "a")
      equal(await storage.head("b"), undefined, "head() of another session")
    },
  },
  {
    n: 2,
    clause: "head.exact",
    title: "`bytes` are the UTF-8 bytes of all lines with one LF each",
    async run({ storage }) {
      const first = await create(storage, "a", exactLines)
      equal((await storage.head("a"))?.bytes, bytesOf(exactLines), "bytes after the creation")
      await storage.append("a", ['"é👍"'], { expect: first })
      equal((await storage.head("a"))?.bytes, bytesOf([...exactLines, '"é👍"']), "bytes after an append")
    },
  },
  {
    n: 3,
    clause: "head.exact",
    title: "parts are in order, add up to the bytes of the log, and are not listed as sessions",
    async run({ storage, sizes }) {
      await create(storage, "a", bigLines(sizes.logBytes))
      equal(
        (await collect(storage.list())).map(({ id }) => id),
        ["a"],
        "the ids in list()",
      )
      const info = await storage.head("a")
      equal(info?.bytes, bytesOf(bigLines(sizes.logBytes)), "bytes")
      if (info?.parts === undefined) return
      equal(info.parts[0]?.from, 0, "the first seq of the first part")
      const ascending = info.parts.every((part, n) => n === 0 || part.from > (info.parts?.[n - 1]?.from ?? 0))
      check(
        ascending,
        "the first seqs of the parts",
        "ascending",
        info.parts.map(({ from }) => from),
      )
      equal(
        info.parts.reduce((sum, part) => sum + part.bytes, 0),
        info.bytes,
        "the sum of the bytes of the parts",
      )
    },
  },
  {
    n: 4,
    clause: "head.time",
    title: "`updatedAt` never decreases, and is in milliseconds",
    async run({ storage }) {
      let next = await create(storage, "a", [line(0)])
      let last = 0
      for (let n = 1; n < 6; n++) {
        const at = (await storage.head("a"))?.updatedAt ?? Number.NaN
        check(at >= last, "updatedAt after another append", `at least ${last}`, at)
        last = at
        next = await storage.append("a", [line(n)], { expect: next })
      }
      const year = 365 * 24 * 3_600_000
      check(Math.abs(last - Date.now()) < year, "updatedAt", "milliseconds since 1970, within a year of now", last)
    },
  },
  {
    n: 5,
    clause: "append.info",
    title: "head and list return info with the `next` of its append",
    async run({ storage, sizes }) {
      const first = await storage.append("a", linesTo(2), { expect: 0, info: '{"n":1}' })
      await expectInfo(storage, sizes.waitMs, { text: '{"n":1}', next: 2 }, [])
      const second = await storage.append("a", [line(2)], { expect: first, info: '{"n":"é👍\u2028"}' })
      await expectInfo(storage, sizes.waitMs, { text: '{"n":"é👍\u2028"}', next: 3 }, [{ text: '{"n":1}', next: 2 }])
      await storage.append("a", [line(3)], { expect: second })
      await expectInfo(storage, sizes.waitMs, { text: '{"n":"é👍\u2028"}', next: 3 }, [])
    },
  },
  {
    n: 6,
    clause: "append.info",
    title: "info of 8,192 UTF-8 bytes is accepted, and longer info is `invalid`",
    async run({ storage, sizes }) {
      const longest = "é".repeat(MAX_INFO_BYTES / 2)
      const first = await create(storage, "a")
      for (const info of [`${longest}x`, "x".repeat(MAX_INFO_BYTES + 1)]) {
        await rejects("invalid", "an append with info that is too long", () =>
          storage.append("a", [line(2)], { expect: first, info }),
        )
      }
      await expectLog(storage, "a", linesTo(2), "after the refused appends")
      await storage.append("a", [line(2)], { expect: first, info: longest })
      await expectInfo(storage, sizes.waitMs, { text: longest, next: 3 }, [])
    },
  },
  {
    n: 7,
    clause: "append.info",
    title: "a session without info has none in head and list",
    async run({ storage }) {
      const first = await create(storage, "none")
      await storage.append("none", [line(2)], { expect: first })
      equal((await storage.head("none"))?.info, undefined, "the info in head()")
      const [listed] = await collect(storage.list())
      equal(listed?.info, undefined, "the info in list()")
    },
  },
  {
    n: 8,
    clause: "signal.before",
    title: "head with an aborted signal is `aborted`",
    async run({ storage }) {
      await create(storage, "a")
      await rejects("aborted", "head()", () => storage.head("a", { signal: AbortSignal.abort() }))
    },
  },
  {
    n: 9,
    clause: "head.first",
    title: "`first` is the first line, if it was asked for, or missing",
    async run({ storage }) {
      const long = JSON.stringify("é".repeat(10_000))
      for (const [n, first] of [...exactLines, long].entries()) {
        const id = `s${n}`
        const next = await create(storage, id, [first, line(1)])
        await expectFirst(storage, id, first)
        await storage.append(id, [line(2)], { expect: next })
        await expectFirst(storage, id, first)
      }
    },
  },
])

async function expectFirst(storage: SessionStorage, id: string, line: string): Promise<void> {
  const plain = await storage.head(id)
  equal(plain?.first, undefined, "`first` in head() without the option")
  const head = await storage.head(id, { first: true })
  equal(head?.first ?? line, line, "`first` in head()")
  equal([head?.next, head?.log, head?.bytes], [plain?.next, plain?.log, plain?.bytes], "the other values of head()")
}

type Info = { readonly text: string; readonly next: number }

/** Waits for the info, which may be written after its lines. Until then, only older info may be returned. */
async function expectInfo(storage: SessionStorage, waitMs: number, info: Info, older: readonly Info[]): Promise<void> {
  const arrived = (seen: Info | undefined, where: string): boolean => {
    if (seen?.text === info.text && seen.next === info.next) return true
    const known = seen === undefined || older.some(({ text, next }) => text === seen.text && next === seen.next)
    check(known, `the info in ${where}`, `${JSON.stringify(info)}, or an older one with its own next`, seen)
    return false
  }
  await until(waitMs, `the info for next ${info.next} in head()`, async () =>
    arrived((await storage.head("a"))?.info, "head()"),
  )
  await until(waitMs, `the info for next ${info.next} in list()`, async () => {
    const listed = (await collect(storage.list())).find(({ id }) => id === "a")
    return arrived(listed?.info, "list()")
  })
}

function bytesOf(lines: readonly string[]): number {
  return lines.reduce((sum, one) => sum + utf8Length(one) + 1, 0)
}
