/** Cases of the limits in the capabilities. A subject with small limits is tested faster and as thoroughly. */
import { equal, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import type { Context } from "../case/context.ts"
import { create, expectGone, expectLog, linesTo, readLines } from "../helpers/lines.ts"

export const limits: readonly Case[] = casesOf("limits", [
  {
    n: 1,
    clause: "limits.lines",
    title: "a line one byte over the limit is `invalid`, and nothing is written",
    async run(ctx) {
      const { storage } = ctx
      const tooLong = textOf(limitOf(ctx, "maxLineBytes") + 1)
      const head = await create(storage, "a")
      await rejects("invalid", "a creation with it", () => create(storage, "new", ["{}", tooLong]))
      await rejects("invalid", "an append with it", () => storage.append("a", ["{}", tooLong], { expect: head }))
      await expectGone(storage, "new", "after the refused creation")
      await expectLog(storage, "a", linesTo(2), "after the refused append")
    },
  },
  {
    n: 2,
    clause: "limits.lines",
    title: "the length of a line is counted in UTF-8 bytes, not in characters",
    async run(ctx) {
      const { storage } = ctx
      const max = limitOf(ctx, "maxLineBytes")
      const line = `"${"é".repeat(Math.floor(max / 2))}"`
      await rejects("invalid", `a line of ${line.length} characters with more bytes than ${max}`, () =>
        create(storage, "a", [line]),
      )
      await expectGone(storage, "a", "after the refused creation")
    },
  },
  {
    n: 3,
    clause: "limits.lines",
    title: "a line of exactly the limit comes back",
    async run(ctx) {
      const { storage, capabilities } = ctx
      const max = Math.min(
        limitOf(ctx, "maxLineBytes"),
        capabilities.maxBatchBytes - 1,
        capabilities.maxSessionBytes - 1,
      )
      await create(storage, "a", [textOf(max)])
      const [line] = await readLines(storage, "a")
      equal(line === textOf(max), true, `whether the line of ${max} bytes is unchanged`)
      equal((await storage.head("a"))?.bytes, max + 1, "its bytes in head()")
    },
  },
  {
    n: 4,
    clause: "limits.lines",
    title: "a batch one byte over the limit is `invalid`, and one of exactly the limit is accepted",
    async run(ctx) {
      const { storage, capabilities } = ctx
      const max = limitOf(ctx, "maxBatchBytes")
      const longest = Math.min(Math.ceil(max / 8), capabilities.maxLineBytes)
      const lines = batchOf(max, longest)
      if (max > capabilities.maxSessionBytes) ctx.skip("the largest batch is larger than the largest session")
      const tooMany = [...lines.slice(0, -1), `${lines.at(-1)?.slice(0, -1)}x"`]
      const head = await create(storage, "a")
      await rejects("invalid", "a batch of one byte more", () => storage.append("a", tooMany, { expect: head }))
      await rejects("invalid", "a creation with it", () => create(storage, "new", tooMany))
      await expectLog(storage, "a", linesTo(2), "after the refused append")
      await expectGone(storage, "new", "after the refused creation")
      await create(storage, "fits", lines)
      equal((await storage.head("fits"))?.bytes, max, "the bytes of the batch that fits")
    },
  },
])

/** The limit; skips the case if it is too large to test. */
function limitOf({ capabilities, sizes, skip }: Context, name: "maxLineBytes" | "maxBatchBytes"): number {
  const limit = capabilities[name]
  return limit <= sizes.limitBytes ? limit : skip(`${name} is ${limit}, and sizes.limitBytes ${sizes.limitBytes}`)
}

/** A JSON text of the given number of bytes. */
function textOf(bytes: number): string {
  return `"${"x".repeat(bytes - 2)}"`
}

/** Lines of `bytes` in total, with their LFs, none longer than `longest`. */
function batchOf(bytes: number, longest: number): string[] {
  const lines: string[] = []
  let rest = bytes
  while (rest > longest + 1) {
    // The last line needs two bytes for its quotes.
    const take = Math.min(longest, rest - 1 - 3)
    lines.push(textOf(take))
    rest -= take + 1
  }
  lines.push(textOf(rest - 1))
  return lines
}
