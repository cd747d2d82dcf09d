import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { anyLog, headerOf, slotsOf } from "../../test/logs.ts"
import { holdsAsync } from "../../test/property.ts"
import { expectMessages, expectPath } from "../../test/replay.ts"
import { sessionsReading, STORED_ID, storeLines } from "../../test/stored.ts"
import { buildSessionContext } from "../context/build.ts"
import { toModelMessages } from "../context/model-messages.ts"
import { repairMessages } from "../context/repair.ts"
import type { RepairMode, SessionContext } from "../context/types.ts"
import type { Entry } from "../format/entry.ts"
import { isAnnotationType } from "../format/entry-types.ts"
import type { Header } from "../format/header.ts"
import { EntryLog, type EntrySlot } from "../log/entry-log.ts"
import { pathTo } from "../log/walk.ts"
import { sessionTree } from "../transfer/index.ts"
import type { Session } from "./types.ts"

/** Window sizes from one line to all of a small log. */
const pieceBytes = fc.constantFrom(1, 1, 200, 500, 1_000, 65_536)

/** The context that a model gets, built from all entries at once. */
function replay(slots: readonly EntrySlot[], leafId: string | null | undefined, header: Header, repair: RepairMode) {
  const full = buildSessionContext(EntryLog.of(slots), leafId, { header })
  const { messages } = repairMessages(toModelMessages(full.messages).messages, repair)
  const { diagnostics: _, tokens: __, reused: ___, ...rest } = full
  return { ...rest, messages }
}

function essence(context: SessionContext) {
  const { diagnostics: _, tokens: __, reused: ___, ...rest } = context
  return rest
}

/** The last entry; null if only annotations follow a `leaf` without a parent. */
function leafOf(slots: readonly EntrySlot[]): number | null {
  const last = slots.findLastIndex((slot) => slot !== undefined)
  if (last < 0) return null
  const log = EntryLog.of(slots)
  const path = pathTo(log, last).seqs.map((seq) => log.at(seq) as Entry)
  const conversation = path.findLast(({ type }) => !isAnnotationType(type))
  return conversation?.type === "leaf" && conversation.parentId === null ? null : last
}

async function openAt(lines: readonly string[], bytes: number): Promise<Session> {
  return sessionsReading(await storeLines(lines), bytes).open(STORED_ID)
}

describe("tail-first opening", () => {
  test("gives the context of a full replay, at the last entry and at any other", async () => {
    await holdsAsync(
      fc.asyncProperty(anyLog, pieceBytes, fc.nat(), async (lines, bytes, n) => {
        const slots = slotsOf(lines)
        const header = headerOf(lines) as unknown as Header
        const session = await openAt(lines, bytes)
        const repair = (["synthesize", "drop", "none"] as const)[n % 3] as RepairMode
        expect(essence(await session.context({ repair }))).toEqual(replay(slots, undefined, header, repair))
        const ids = slots.flatMap((slot) => (slot === undefined ? [] : [slot.id]))
        if (ids.length === 0) return
        const other = await openAt(lines, bytes)
        const leafId = ids[n % ids.length] as string
        await other.branch(leafId)
        expect(essence(await other.context({ repair }))).toEqual(replay(slots, leafId, header, repair))
        await other.resetLeaf()
        expect(essence(await other.context({ repair }))).toEqual(replay(slots, null, header, repair))
      }),
      40,
    )
  })

  test("finds the leaf, the tree and every entry of a full replay", async () => {
    await holdsAsync(
      fc.asyncProperty(anyLog, pieceBytes, fc.nat(), async (lines, bytes, n) => {
        const slots = slotsOf(lines)
        const session = await openAt(lines, bytes)
        const leaf = leafOf(slots)
        expect(session.leafId).toBe(leaf === null ? null : slots[leaf]?.id)
        const ids = slots.flatMap((slot) => (slot === undefined ? [] : [slot.id]))
        const id = ids[n % ids.length] ?? "nobody"
        expect(await session.entry(id)).toEqual(slots.findLast((slot) => slot?.id === id))
        const found = []
        for await (const entry of session.entries()) found.push(entry)
        expect(found).toEqual(slots.filter((slot) => slot !== undefined))
        expect((await sessionTree(session)).leafId).toBe(session.leafId)
      }),
      40,
    )
  })

  test("gives pages that together are the path's messages, whatever the page size", async () => {
    await holdsAsync(
      fc.asyncProperty(anyLog, pieceBytes, fc.integer({ min: 1, max: 5 }), async (lines, bytes, limit) => {
        const slots = slotsOf(lines)
        const sessions = sessionsReading(await storeLines(lines), bytes)
        const seqs: number[] = []
        let before: string | undefined
        for (let pages = 0; pages <= lines.length; pages++) {
          // As a server does that keeps nothing between two pages.
          const session = await sessions.open(STORED_ID)
          const page = await session.messages({ limit, ...(before === undefined ? {} : { before }) })
          seqs.unshift(...page.messages.map(({ seq }) => seq))
          before = page.before
          await session.close()
          if (before === undefined) break
          expect(page.messages).toHaveLength(limit)
        }
        expect(seqs).toEqual(expectMessages(slots, leafOf(slots)))
      }),
      40,
    )
  })
  test("gives pages that together are the path's entries of the wanted types, whatever the page size", async () => {
    await holdsAsync(
      fc.asyncProperty(
        anyLog,
        pieceBytes,
        fc.integer({ min: 1, max: 5 }),
        fc.option(
          fc.uniqueArray(fc.constantFrom<string>("message", "custom", "label", "compaction"), { minLength: 1 }),
        ),
        async (lines, bytes, limit, types) => {
          const slots = slotsOf(lines)
          const session = await openAt(lines, bytes)
          const found: Entry[] = []
          let before: string | undefined
          do {
            const given = { limit, ...(before === undefined ? {} : { before }), ...(types === null ? {} : { types }) }
            const page = await session.path(given)
            found.unshift(...page.entries)
            before = page.before
            if (before !== undefined) expect(page.entries).toHaveLength(limit)
          } while (before !== undefined)
          const path = expectPath(slots, leafOf(slots)).map((seq) => slots[seq] as Entry)
          expect(found).toEqual(path.filter(({ type }) => types === null || types.includes(type)))
        },
      ),
      100,
    )
  })
})
