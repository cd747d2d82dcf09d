/** Cases of `sync`. */
import { rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { create, expectLog, line, linesTo } from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

export const sync: readonly Case[] = casesOf("sync", [
  {
    n: 1,
    clause: "sync",
    title: "sync resolves after appends and concurrently with them, and changes no line",
    needs: needs.sync,
    async run({ storage }) {
      const head = await create(storage, "a")
      await storage.sync?.("a")
      await Promise.all([storage.append("a", [line(2)], { expect: head }), storage.sync?.("a"), storage.sync?.("a")])
      await storage.sync?.("a")
      await expectLog(storage, "a", linesTo(3), "after the syncs")
    },
  },
  {
    n: 2,
    clause: "unsupported",
    title: "without the capability, sync is missing or refused with `unsupported`",
    needs: needs.noSync,
    async run({ storage }) {
      await create(storage, "a")
      if (storage.sync === undefined) return
      await rejects("unsupported", "sync()", async () => storage.sync?.("a"))
    },
  },
])
