import { compact } from "../index.ts"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { headerOf, slotsOf, validLog } from "../../../test/logs.ts"
import { holdsAsync } from "../../../test/property.ts"
import { sessionsReading, STORED_ID, storeLines } from "../../../test/stored.ts"
import { buildSessionContext } from "../../context/build.ts"
import type { Diagnostic } from "../../format/diagnostics.ts"
import type { Header } from "../../format/header.ts"

const summarized = (diagnostics: readonly Diagnostic[]) => diagnostics.filter(({ code }) => code === "summarized")

test("a session that is opened from its end names the same outdated summaries as the whole log", async () => {
  await holdsAsync(
    fc.asyncProperty(validLog, fc.constantFrom(1, 500, 65_536), async (lines, bytes) => {
      const header = headerOf(lines) as unknown as Header
      const whole = summarized(buildSessionContext(slotsOf(lines), undefined, { header }).diagnostics)
      const session = await sessionsReading(await storeLines(lines), bytes).open(STORED_ID)
      expect(summarized((await session.context()).diagnostics)).toEqual(whole)
    }),
    25,
  )
})

test("after its summaries were made anew a context has none that is outdated and the same kept messages", async () => {
  await holdsAsync(
    fc.asyncProperty(validLog, fc.constantFrom(1, 65_536), async (lines, bytes) => {
      const session = await sessionsReading(await storeLines(lines), bytes).open(STORED_ID)
      const before = await session.context()
      if (before.compaction === undefined && summarized(before.diagnostics).length === 0) return
      const summarize = async () => "made anew"
      await compact(session, { anew: true, summarize })
      const after = await session.context()
      expect(summarized(after.diagnostics)).toEqual([])
      const kept = ({ messages }: typeof after) =>
        messages
          .filter(({ kind, message }) => kind === "message" && message.role !== "toolResult")
          .map(({ entryId }) => entryId)
      expect(kept(after)).toEqual(kept(before))
    }),
    25,
  )
})
