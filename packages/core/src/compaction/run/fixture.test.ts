/** A session of another agent that was compacted twice. It is not part of the project; without it these tests are skipped. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { expectedCut } from "../../../test/cut-oracle.ts"
import { sessionsReading, STORED_ID, storeLines } from "../../../test/stored.ts"
import { serializeConversation } from "../summary/serialize.ts"
import { estimateMessages } from "../../format/tokens.ts"
import type { SummarizeRequest } from "../types.ts"
import { buildSessionContext } from "../../context/build.ts"
import type { ContextMessage } from "../../context/types.ts"
import type { Entry } from "../../format/entry.ts"
import type { EntrySlot } from "../../log/entry-log.ts"
import type { Session } from "../../session/types.ts"

const file = fileURLToPath(new URL("../../../../../../shared/fixtures/pi/v1-two-compactions.jsonl", import.meta.url))
const present = existsSync(file)
if (!present) console.info("Skipped: there is no ../shared/fixtures beside the project.")

/** Lines of the log, the header counted as 0: its two compactions, and the first kept entry of each. */
const COMPACTIONS = [
  { at: 359, firstKept: 293 },
  { at: 628, firstKept: 551 },
]

test.skipIf(!present)("the kept part of both stored compactions is the one that the agent kept", async () => {
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

test.skipIf(!present)(
  "a new compaction summarizes everything from the last one's first kept entry to its cut, and nothing twice",
  async () => {
    const { session } = await opened()
    const before = (await session.context({ repair: "none" })).messages
    const [summary, ...messages] = before as readonly ContextMessage[]
    expect(summary?.kind).toBe("compaction")
    const asked: SummarizeRequest[] = []
    const summarize = async (request: SummarizeRequest): Promise<string> => (asked.push(request), "short")
    await session.compact({ summarize, keepRecentTokens: 20_000 })

    const after = (await session.context({ repair: "none" })).messages as readonly ContextMessage[]
    const first = messages.length - (after.length - 1)
    expect(after.slice(1)).toEqual(messages.slice(first))
    const plain = messages.map(({ message }) => message)
    expect(first).toBe(expectedCut(plain, { kind: "tokens", count: 20_000 }))
    expect(estimateMessages(plain.slice(first))).toBeGreaterThan(10_000)

    const told = asked.map(({ prompt }) => prompt.slice("<conversation>\n".length, prompt.indexOf("\n</conversation>")))
    expect(told.join("\n\n")).toBe(serializeConversation(messages.slice(0, first)))
    expect(asked.filter(({ prompt }) => prompt.includes("<previous-summary>\n# Context Checkpoint"))).toHaveLength(1)
  },
)

async function opened(): Promise<{ readonly session: Session; readonly lines: readonly string[] }> {
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
  const sessions = sessionsReading(await storeLines(lines), 1_000_000)
  return { session: await sessions.open(STORED_ID), lines }
}

function timeOf(line = "{}"): string {
  return (JSON.parse(line) as { readonly timestamp: string }).timestamp
}
