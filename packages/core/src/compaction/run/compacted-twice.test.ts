/** A long session of another agent that was compacted twice. */
import { compact } from "../index.ts"
import { expect, test } from "vitest"
import { expectedCut } from "../../../test/cut-oracle.ts"
import { COMPACTIONS, firstVersionLines } from "../../../test/first-version.ts"
import { sessionsReading, STORED_ID, storeLines } from "../../../test/stored.ts"
import { serializeConversation } from "../summary/serialize.ts"
import { estimateMessages } from "../../format/tokens.ts"
import type { SummarizeRequest } from "../../compaction-settings/types.ts"
import { buildSessionContext } from "../../context/build.ts"
import type { ContextMessage } from "../../context/types.ts"
import type { Entry } from "../../format/entry.ts"
import type { EntrySlot } from "../../log/entry-log.ts"
import type { Session } from "../../session/types.ts"

test("the kept part of both stored compactions is the one that the agent kept", async () => {
  const { session, lines } = await opened()
  const slots: EntrySlot[] = [undefined]
  for await (const entry of session.entries()) slots[entry.seq] = entry
  const entryAt = (line: number): Entry => slots.find((slot) => slot?.timestamp === timeOf(lines[line])) as Entry
  for (const [number, { at, firstKept }] of COMPACTIONS.entries()) {
    const end = (COMPACTIONS[number + 1]?.at ?? lines.length) - 1
    const [first, ...rest] = buildSessionContext(slots, entryAt(end).id).messages
    expect(first).toMatchObject({ kind: "compaction", entryId: entryAt(at).id })
    const kept = lines
      .slice(firstKept, end + 1)
      .flatMap((line) => (line.includes('"type":"message"') ? [timeOf(line)] : []))
    const shown = rest.map(({ entryId }) => slots.find((slot) => slot?.id === entryId)?.timestamp)
    expect(shown).toEqual(kept)
    expect(rest[0]?.entryId).toBe(entryAt(firstKept).id)
  }
})

test("a new compaction summarizes everything from the last one's first kept entry to its cut, and nothing twice", async () => {
  const { session } = await opened()
  const before = (await session.context({ repair: "none" })).messages
  const [summary, ...messages] = before as readonly ContextMessage[]
  expect(summary?.kind).toBe("compaction")
  const asked: SummarizeRequest[] = []
  const summarize = async (request: SummarizeRequest): Promise<string> => (asked.push(request), "short")
  await compact(session, { summarize, keepRecentTokens: 20_000 })

  const after = (await session.context({ repair: "none" })).messages as readonly ContextMessage[]
  const first = messages.length - (after.length - 1)
  expect(after.slice(1)).toEqual(messages.slice(first))
  const plain = messages.map(({ message }) => message)
  expect(first).toBe(expectedCut(plain, { kind: "tokens", count: 20_000 }))
  expect(estimateMessages(plain.slice(first))).toBeGreaterThan(10_000)

  const told = asked.map(({ prompt }) => prompt.slice("<conversation>\n".length, prompt.indexOf("\n</conversation>")))
  expect(told.join("\n\n")).toBe(serializeConversation(messages.slice(0, first)))
  expect(asked.filter(({ prompt }) => prompt.includes("<previous-summary>\n# Checkpoint 1"))).toHaveLength(1)
})

async function opened(): Promise<{ readonly session: Session; readonly lines: readonly string[] }> {
  const lines = firstVersionLines()
  const sessions = sessionsReading(await storeLines(lines), 1_000_000)
  return { session: await sessions.open(STORED_ID), lines }
}

function timeOf(line = "{}"): string {
  return (JSON.parse(line) as { readonly timestamp: string }).timestamp
}
