/** Cases of adapters that share locations: one reads and continues what the other wrote. */
import type { SessionStorage } from "@sessions/core/storage"
import { check, equal, equalBytes, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import type { Context } from "../case/context.ts"
import { collect, create, exactLines, expectGone, expectLog, line, linesTo } from "../helpers/lines.ts"
import { both, needs } from "../case/needs.ts"

export const cross: readonly Case[] = casesOf("cross", [
  {
    n: 1,
    clause: "cross.same",
    title: "each adapter reads the other's lines byte for byte, with the same head",
    needs: needs.across,
    run: (context) =>
      bothWays(context, async (writer, reader) => {
        await create(writer, "a", exactLines)
        await expectLog(reader, "a", exactLines, "through the other adapter")
        const { updatedAt: _, parts: __, ...written } = (await writer.head("a")) ?? {}
        const { updatedAt: ___, parts: ____, ...read } = (await reader.head("a")) ?? {}
        equal(read, written, "head() of the other adapter")
        equal(
          (await collect(reader.list())).map(({ id }) => id),
          (await collect(writer.list())).map(({ id }) => id),
          "the ids in list() of the other adapter",
        )
        await writer.delete("a")
      }),
  },
  {
    n: 2,
    clause: "cross.same",
    title: "the adapters append to one log alternately, each with the other's head",
    needs: needs.across,
    async run(context) {
      const [one, ...others] = await all(context)
      let head = await create(one, "a", linesTo(1))
      let next = 1
      for (const storage of [...others, one, ...others, one]) {
        head = await storage.append("a", [line(next++)], { expect: head })
      }
      for (const storage of [one, ...others])
        await expectLog(storage, "a", linesTo(next), "after the alternating appends")
    },
  },
  {
    n: 3,
    clause: "cross.same",
    title: "of concurrent appends of all adapters to one head exactly one succeeds",
    needs: needs.across,
    async run(context) {
      const storages = await all(context)
      let head = await create(storages[0], "a", linesTo(1))
      for (let round = 0; round < 10; round++) {
        const order = round % 2 === 0 ? storages : storages.toReversed()
        const outcomes = await Promise.allSettled(
          order.map((storage, n) => storage.append("a", [line(`${round} ${n}`)], { expect: head })),
        )
        const won = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []))
        check(won.length === 1, "the number of winners", "1", won.length)
        head = won[0] ?? head
      }
      for (const storage of storages) equal((await storage.head("a"))?.next, 11, "head().next")
    },
  },
  {
    n: 4,
    clause: "cross.same",
    title: "a session that one adapter deleted is gone for the other, which refuses its old head with `conflict`",
    needs: needs.across,
    run: (context) =>
      bothWays(context, async (deleter, other) => {
        const head = await create(other, "a")
        await deleter.delete("a")
        await expectGone(other, "a", "after the other adapter's delete")
        await rejects("conflict", "an append with the old head", () => other.append("a", [line(2)], { expect: head }))
      }),
  },
  {
    n: 5,
    clause: "cross.same",
    title: "documents and blobs are shared, with the same versions and hashes",
    needs: needs.across,
    run: (context) =>
      bothWays(context, async (one, other) => {
        const version = await one.docs.put("x", '{"a":"é"}', { expect: null })
        equal(await other.docs.get("x"), { text: '{"a":"é"}', version }, "docs.get() of the other adapter")
        await other.docs.put("x", "{}", { expect: version })
        await rejects("conflict", "a put with the version before", () => one.docs.put("x", "2", { expect: version }))
        await one.docs.delete("x", { expect: (await one.docs.get("x"))?.version ?? "" })
        const bytes = new Uint8Array([0, 255, 10])
        const hash = await one.blobs.put(bytes)
        equalBytes(await other.blobs.get(hash), bytes, "blobs.get() of the other adapter")
        equal(await other.blobs.put(bytes), hash, "the hash from the other adapter")
        equal(await other.blobs.delete(hash), true, "blobs.delete() of the other adapter")
        equal(await one.blobs.has(hash), false, "blobs.has() after the delete")
      }),
  },
  {
    n: 6,
    clause: "cross.same",
    title: "a log that one adapter replaced has a new identity for the other",
    needs: both(needs.across, needs.replace),
    run: (context) =>
      bothWays(context, async (replacer, other) => {
        const old = await create(other, "a")
        const chunks = async function* () {
          yield { from: 0, lines: linesTo(5) }
        }
        await replacer.replace?.("a", chunks(), { expect: old })
        await rejects("conflict", "an append with the old head", () => other.append("a", [line(9)], { expect: old }))
        await expectLog(other, "a", linesTo(5), "after the other adapter's replace")
        await replacer.delete("a")
      }),
  },
])

async function all({ storage, across }: Context): Promise<readonly [SessionStorage, ...SessionStorage[]]> {
  return [storage, ...(await across())]
}

async function bothWays(
  context: Context,
  check: (one: SessionStorage, other: SessionStorage) => Promise<void>,
): Promise<void> {
  const [storage, ...others] = await all(context)
  for (const other of others) {
    await check(storage, other)
    await check(other, storage)
  }
}
