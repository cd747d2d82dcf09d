/** Cases of documents. */
import type { SessionStorage } from "@sessions/core/storage"
import { check, equal, equalLines, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { collect, create } from "../helpers/lines.ts"

export const docs: readonly Case[] = casesOf("docs", [
  {
    n: 1,
    clause: "docs.exact",
    title: "a document comes back unchanged, with the version from its put",
    async run({ storage: { docs: store } }) {
      equal(await store.get("x"), undefined, "get() of a missing document")
      for (const [n, text] of texts.entries()) {
        const version = await store.put(`x${n}`, text, { expect: null })
        const doc = await store.get(`x${n}`)
        check(doc?.text === text, "the text from get()", JSON.stringify(text.slice(0, 40)), doc?.text)
        equal(doc.version, version, "the version from get(), compared with that of put()")
      }
    },
  },
  {
    n: 2,
    clause: "docs.cas",
    title: "`expect: null` creates a document; for an existing one it is refused with `conflict`",
    async run({ storage: { docs: store } }) {
      await store.put("x", "1", { expect: null })
      await rejects("conflict", "a put of another text", () => store.put("x", "2", { expect: null }))
      await rejects("conflict", "a put of the same text", () => store.put("x", "1", { expect: null }))
      equal((await store.get("x"))?.text, "1", "the text after the refused puts")
    },
  },
  {
    n: 3,
    clause: "docs.cas",
    title: "a put with the stored version succeeds; with any other it is refused with `conflict`",
    async run({ writers }) {
      const [{ docs: a }, { docs: b }] = await writers()
      const first = await a.put("x", "1", { expect: null })
      const second = await b.put("x", "2", { expect: first })
      await rejects("conflict", "a put with an outdated version", () => a.put("x", "3", { expect: first }))
      await rejects("conflict", "a put with an invented version", () => a.put("x", "3", { expect: "x" }))
      await rejects("conflict", "a put with the text as the version", () => a.put("x", "3", { expect: "2" }))
      equal(await a.get("x"), { text: "2", version: second }, "the document after the refused puts")
      await rejects("conflict", "a put of a missing document with a version", () => a.put("y", "3", { expect: first }))
      equal(await a.get("y"), undefined, "the missing document")
    },
  },
  {
    n: 4,
    clause: "docs.version",
    title: "equal texts have equal versions, and different texts of one size have different versions",
    async run({ storage: { docs: store } }) {
      const versions = new Map<string, string>()
      let expect: string | null = null
      for (const text of ['{"a":1}', '{"a":2}', '{"a":1}', '{"b":1}', '{"a":2}', '{"a":1 }', '{"a":2}']) {
        expect = await store.put("x", text, { expect })
        equal(versions.get(text) ?? expect, expect, `the version of ${text}, put again`)
        versions.set(text, expect)
      }
      equal(new Set(versions.values()).size, versions.size, "the number of versions of different texts")
    },
  },
  {
    n: 5,
    clause: "docs.cas",
    title: "a delete requires the stored version",
    async run({ storage: { docs: store } }) {
      const first = await store.put("x", "1", { expect: null })
      const second = await store.put("x", "2", { expect: first })
      await rejects("conflict", "a delete with an outdated version", () => store.delete("x", { expect: first }))
      await rejects("conflict", "a delete of a missing document", () => store.delete("y", { expect: first }))
      equal((await store.get("x"))?.text, "2", "the text after the refused deletes")
      await store.delete("x", { expect: second })
      equal(await store.get("x"), undefined, "get() after the delete")
      await rejects("conflict", "a second delete", () => store.delete("x", { expect: second }))
      await store.put("x", "3", { expect: null })
    },
  },
  {
    n: 6,
    clause: "docs.cas",
    title: "of many concurrent puts with one version exactly one succeeds",
    async run({ writers, sizes }) {
      const [{ docs: a }, { docs: b }] = await writers()
      let expect: string | null = null
      for (let round = 0; round < 3; round++) {
        const at: string | null = expect
        const all: Promise<string>[] = Array.from({ length: sizes.race }, (_, n) =>
          (n % 2 === 0 ? a : b).put("x", `"${round}.${n}"`, { expect: at }),
        )
        const outcomes = await Promise.allSettled(all)
        const winners = outcomes.flatMap((outcome, n) =>
          outcome.status === "fulfilled" ? [{ n, version: outcome.value }] : [],
        )
        check(winners.length === 1, "the winners of the race", "exactly one", winners.length)
        for (const outcome of outcomes) {
          if (outcome.status === "rejected")
            await rejects("conflict", "a loser of the race", () => Promise.reject(outcome.reason))
        }
        expect = winners[0]?.version ?? null
        equal(await b.get("x"), { text: `"${round}.${winners[0]?.n}"`, version: expect }, "the document after the race")
      }
    },
  },
  {
    n: 7,
    clause: "docs.keys",
    title: "list returns the keys with a prefix in ascending order",
    async run({ storage }) {
      const store = storage.docs
      for (const id of ["a", "ab", "b"]) await create(storage, id)
      const keys = ["a", "b", "b.1", "B", "sessions/a/x", "sessions/a/y", "sessions/ab/x", "sessions/b/x"].toSorted()
      for (const key of keys.toReversed()) await store.put(key, "{}", { expect: null })
      equalLines(await collect(store.list()), keys, "list()")
      for (const prefix of ["", "b", "sessions/", "sessions/a", "sessions/a/", "sessions/a/x", "nothing"]) {
        equalLines(
          await collect(store.list(prefix)),
          keys.filter((key) => key.startsWith(prefix)),
          `list("${prefix}")`,
        )
      }
    },
  },
  {
    n: 8,
    clause: "docs.keys",
    title: "an invalid key is `invalid` in every method",
    async run({ storage: { docs: store } }) {
      for (const key of invalidKeys) {
        const what = `with the key ${JSON.stringify(key)}`
        await rejects("invalid", `get() ${what}`, () => store.get(key))
        await rejects("invalid", `put() ${what}`, () => store.put(key, "{}", { expect: null }))
        await rejects("invalid", `delete() ${what}`, () => store.delete(key, { expect: "x" }))
      }
      equal(await collect(store.list()), [], "list() after the refused calls")
    },
  },
  {
    n: 9,
    clause: "docs.keys",
    title: "every valid key is a different document, however unusual, also keys that differ only in case",
    async run({ storage }) {
      const store = storage.docs
      for (const id of ["a", "A", "x".repeat(128)]) await create(storage, id)
      const names = ["CON", "aux.x", "x", "X", "lock", "metadata.json", "sessions", "constructor", "x".repeat(64), "0"]
      const keys = [
        ...names,
        ...names.map((name) => `sessions/a/${name}`),
        "sessions/A/x",
        `sessions/${"x".repeat(128)}/x`,
      ]
      for (const key of keys) await store.put(key, JSON.stringify(key), { expect: null })
      for (const key of keys) equal((await store.get(key))?.text, JSON.stringify(key), `the text of ${key}`)
      equalLines(await collect(store.list()), keys.toSorted(), "list()")
    },
  },
  {
    n: 10,
    clause: "docs.exact",
    title: "a lone surrogate, a non-string, and a put or delete without `expect` are `invalid`",
    async run({ storage: { docs: store } }) {
      const version = await store.put("x", "1", { expect: null })
      for (const text of ['"\ud800"', undefined, 7, {}]) {
        await rejects("invalid", `a put of ${JSON.stringify(text)}`, () =>
          store.put("x", text as string, { expect: version }),
        )
      }
      await rejects("invalid", "a put without expect", () => store.put("x", "2", {} as { expect: null }))
      await rejects("invalid", "a delete without expect", () => store.delete("x", {} as { expect: string }))
      equal((await store.get("x"))?.text, "1", "the text after the refused calls")
    },
  },
  {
    n: 11,
    clause: "signal.before",
    title: "a call with an aborted signal is `aborted` and has no effect",
    async run({ storage }) {
      await expectAborted(storage)
    },
  },
])

const texts: readonly string[] = [
  "",
  "{}",
  '\uFEFF{"bom":1}',
  '{"t":"\u2028\r\n\n é👍"}\r\n',
  '{"__proto__":1}',
  "a\0b",
  JSON.stringify({ long: "é".repeat(60_000) }),
]

const invalidKeys: readonly string[] = [
  "",
  ".",
  "..",
  "../x",
  "a/b",
  "/x",
  "x/",
  ".x",
  "x.",
  "a..b",
  "a b",
  "a\0b",
  "x".repeat(65),
  "sessions/a",
  "sessions//x",
  "sessions/../x",
  "sessions/a/..",
  "sessions/a/b/c",
  "sessions/a/.x",
  "Sessions/a/x",
  "other/a/x",
]

async function expectAborted({ docs: store }: SessionStorage): Promise<void> {
  const version = await store.put("x", "1", { expect: null })
  const signal = AbortSignal.abort()
  await rejects("aborted", "get()", () => store.get("x", { signal }))
  await rejects("aborted", "put()", () => store.put("x", "2", { expect: version, signal }))
  await rejects("aborted", "delete()", () => store.delete("x", { expect: version, signal }))
  await rejects("aborted", "list()", () => collect(store.list("", { signal })))
  equal((await store.get("x"))?.text, "1", "the text after the aborted calls")
}
