import type { ReadRange, SessionStorage } from "@sessions/core/storage"
import { equal, equalLines, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { bigLines, checkChunk, collect, create, line, linesTo, readFrom } from "../helpers/lines.ts"

/** The log that a read names, and appends, deletes and aborts during a read. */
export const readChanges: readonly Case[] = casesOf("read", [
  {
    n: 10,
    clause: "read.committed",
    title: "a read gives what was committed before it, and nothing of what is appended while it goes on",
    async run({ writers, sizes }) {
      const [a, b] = await writers()
      const lines = bigLines(sizes.logBytes)
      let head = await create(a, "a", lines)
      const came: string[] = []
      for await (const chunk of b.read("a")) {
        checkChunk(chunk, came.length)
        came.push(...chunk.lines)
        head = await a.append("a", [line(`added ${head.next}`)], { expect: head })
      }
      equalLines(came, lines, "the lines read")
    },
  },
  {
    n: 11,
    clause: "read.gone",
    title: "a reader whose log is deleted gets `conflict`",
    async run({ writers, sizes }) {
      const [a, b] = await writers()
      const lines = bigLines(sizes.logBytes)
      await create(a, "a", lines)
      await expectConflictWhile(b, lines, () => a.delete("a"))
    },
  },
  {
    n: 12,
    clause: "read.gone",
    title: "a reader whose log is deleted and made anew gets `conflict`, and no line of the new one",
    async run({ writers, sizes }) {
      const [a, b] = await writers()
      const lines = bigLines(sizes.logBytes)
      await create(a, "a", lines)
      await expectConflictWhile(b, lines, async () => {
        await a.delete("a")
        await create(
          a,
          "a",
          lines.map((one) => one.replace("{", '{"new":1,')),
        )
      })
    },
  },
  {
    n: 14,
    clause: "signal.before",
    title: "a read with a signal that fired before is `aborted`, and one whose signal fires under way ends so too",
    async run({ storage, sizes }) {
      await create(storage, "a", bigLines(sizes.logBytes))
      await rejects("aborted", "read() with a signal that fired", () =>
        collect(storage.read("a", {}, { signal: AbortSignal.abort() })),
      )
      const controller = new AbortController()
      await rejects("aborted", "read() with a signal that fires after the first chunk", async () => {
        for await (const _ of storage.read("a", {}, { signal: controller.signal })) controller.abort()
      })
    },
  },
  {
    n: 22,
    clause: "read.log",
    title: "a read that names the log reads that log, and is `conflict` if there is another one",
    async run({ storage }) {
      const { log: old } = await create(storage, "a", linesTo(10))
      const whole = { from: 0, lines: linesTo(10) }
      equal(await readFrom(storage, "a", { log: old }), whole, "the log, by its identity")
      equal(await readFrom(storage, "a", { maxBytes: 90, log: old }), whole, "a window of the log, by its identity")
      await storage.delete("a")
      const { log } = await create(storage, "a", linesTo(10))
      equal(await readFrom(storage, "a", { log }), whole, "the log made anew, by its identity")
      for (const other of [old, `${log}x`, ""]) for (const range of rangesOf(other)) await conflicts(storage, range)
    },
  },
  {
    n: 23,
    clause: "read.log",
    title: "a read that names the log of a session that is missing or was deleted is `conflict`",
    async run({ storage }) {
      for (const range of rangesOf("l")) await conflicts(storage, range)
      const { log } = await create(storage, "a", linesTo(10))
      await storage.delete("a")
      for (const range of rangesOf(log)) await conflicts(storage, range)
    },
  },
])

/** Ranges with lines and without, all of them of one log. */
function rangesOf(log: string): readonly ReadRange[] {
  return [
    { log },
    { from: 3, to: 5, log },
    { from: 5, to: 5, log },
    { from: 1_000, log },
    { maxBytes: 20, log },
    { maxBytes: 20, before: 5, log },
    { maxBytes: 20, before: 0, log },
  ]
}

async function conflicts(storage: SessionStorage, range: ReadRange): Promise<void> {
  const what = `read() with ${JSON.stringify(range)} of another log, or none`
  await rejects("conflict", what, () => collect(storage.read("a", range)))
}

/** Reads a long log, lets something happen after the first chunk, and demands a conflict after lines of the old log only. */
async function expectConflictWhile(
  reader: SessionStorage,
  lines: readonly string[],
  happen: () => Promise<unknown>,
): Promise<void> {
  const came: string[] = []
  await rejects("conflict", "the read, after its log was taken away", async () => {
    for await (const chunk of reader.read("a")) {
      came.push(...chunk.lines)
      if (came.length === chunk.lines.length) await happen()
    }
  })
  equalLines(came, lines.slice(0, came.length), "the lines that were read before")
}
